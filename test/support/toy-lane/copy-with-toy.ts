import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ROOT } from '../source-tree.ts';
import { TOY_FILES, TOY_LINES, WORKFLOW_LINE } from './sources.ts';

/** What the processes and the checks of the layout read. */
const COPIED = [
  ...['activities', 'agent', 'ansible', 'api', 'bench', 'bootstrap', 'cli', 'config', 'control', 'deploy', 'docs'],
  ...['domain', 'drivers', 'openapi', 'store', 'test', 'web', 'worker', 'workflows'],
  ...['jest.config.js', 'package.json', 'tsconfig.json'],
];

export interface CopyWithToy {
  root: string;
  /** Files of the checkout that are different in the copy. */
  edited: string[];
  remove(): Promise<void>;
}

/** Makes a copy of the checkout with lane `toy`: its files, and a line in each list. */
export async function copyWithToy(): Promise<CopyWithToy> {
  const root = await mkdtemp(join(tmpdir(), 'muster-toy-lane-'));
  // What Python keeps beside its sources comes and goes while others work there.
  const filter = (path: string) => basename(path) !== '__pycache__';
  for (const name of COPIED) await cp(join(ROOT, name), join(root, name), { recursive: true, filter });
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const [path, text] of Object.entries(TOY_FILES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text.trimStart(), { flag: 'wx' });
  }
  const lines = [...TOY_LINES, WORKFLOW_LINE];
  for (const [file, imported, entry, before] of lines) {
    const text = await readFile(join(root, file), 'utf8');
    await writeFile(join(root, file), withLine(file, text, imported, entry, before));
  }
  return {
    root,
    edited: lines.map(([file]) => file),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Returns the text with its import after the last import, and its entry before the first line after that which begins so. */
function withLine(file: string, text: string, imported: string, entry: string, before: string): string {
  if (before === '') return `${text}${entry}\n`;
  const imports = [...text.matchAll(/^import .*;\n/gm)];
  const last = imports.at(-1);
  const end = last === undefined ? 0 : last.index + last[0].length;
  const at = text.indexOf(`\n${before}`, end);
  if (at < 0) throw new Error(`${file} has no place for a line: ${before.trim()} does not begin a line`);
  const importLine = imported === '' ? '' : `${imported}\n`;
  return `${text.slice(0, end)}${importLine}${text.slice(end, at + 1)}${entry}\n${text.slice(at + 1)}`;
}
