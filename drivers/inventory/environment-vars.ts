import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { isMap, parseAllDocuments } from 'yaml';
import { musterError } from '../../domain/errors.ts';

/** Names under which Ansible finds the variables of all hosts; it reads the first that exists, and no other. */
const NAMES = ['all', 'all.yml', 'all.yaml', 'all.json'];
const OWN_FILE = 'cray_cfs_environment.yaml';
const LINE = 'cray_cfs_image: false\n';
/** Names, which Ansible does not read, of the file in whose place a folder comes and of the folder until it is whole. */
const ASIDE = '.all.aside';
const MADE = '.all.made';

/**
 * Adds `cray_cfs_image: false` for all hosts beside the inventory in `dir` (cfs-flows 3.5): in a folder as a file of its own, to a file
 * by a line at its end, else as a new file. A file that takes no line (encrypted, JSON, several documents) moves into a folder,
 * where Ansible reads both; a try that is cut off at any step loses nothing for the next one. Links of the repository are read
 * inside `dir` only and never written through.
 */
export async function addEnvironmentVariables(dir: string): Promise<void> {
  const root = await realpath(dir);
  const folder = await groupVarsFolder(root);
  await bringBack(folder);
  for (const name of NAMES) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found === null) continue;
    if (found.isDirectory()) return replaceFile(join(await realInside(root, path), OWN_FILE), LINE);
    return addToFile(root, path);
  }
  await replaceFile(join(folder, 'all'), LINE);
}

async function groupVarsFolder(root: string): Promise<string> {
  const path = join(root, 'group_vars');
  if ((await lstat(path).catch(() => null)) === null) await mkdir(path, { mode: 0o755 });
  const folder = await realInside(root, path);
  if (!(await stat(folder)).isDirectory())
    throw musterError('inventory_invalid', 'group_vars of the inventory is not a folder.');
  return folder;
}

async function addToFile(root: string, path: string): Promise<void> {
  const text = await readFile(await realInside(root, path), 'utf8');
  const line = text === '' || text.endsWith('\n') ? LINE : `\n${LINE}`;
  const before = variablesOf(text);
  if (before !== null && before.get('cray_cfs_image') === false) return;
  const after = before === null ? null : variablesOf(text + line);
  if (before !== null && after !== null && after.get('cray_cfs_image') === false && after.size >= before.size) {
    return replaceFile(path, text + line);
  }
  const groupVars = dirname(path);
  const folder = join(groupVars, 'all');
  const aside = join(groupVars, ASIDE);
  const made = join(groupVars, MADE);
  await rm(made, { recursive: true, force: true });
  await mkdir(made, { mode: 0o755 });
  await replaceFile(join(made, basename(path)), text);
  await replaceFile(join(made, OWN_FILE), LINE);
  // What is in the folder's place is the file itself, or a link that leads nowhere.
  if (path === folder) await rename(path, aside);
  else await rm(folder, { force: true });
  await rename(made, folder);
  await rm(path === folder ? aside : path);
}

/** Goes back to where a try began that was cut off while a file and the folder of the same name changed places. */
async function bringBack(groupVars: string): Promise<void> {
  const [folder, aside] = [join(groupVars, 'all'), join(groupVars, ASIDE)];
  if ((await lstat(aside).catch(() => null)) === null) return;
  if ((await lstat(folder).catch(() => null)) === null) await rename(aside, folder);
  else await rm(aside, { recursive: true, force: true });
}

/** Top-level names of a block of YAML that could take one more line; `null` for anything else. */
function variablesOf(text: string): Map<string, unknown> | null {
  if (text.trim() === '') return new Map();
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: 'silent' });
  const [document] = documents;
  if (!Array.isArray(documents) || documents.length !== 1 || document === undefined || document.errors.length > 0)
    return null;
  const { contents } = document;
  if (contents === null) return new Map();
  if (!isMap(contents) || contents.flow) return null;
  return new Map(contents.items.map((pair) => [String(pair.key), scalarOf(pair.value)]));
}

function scalarOf(node: unknown): unknown {
  return typeof node === 'object' && node !== null && 'value' in node ? node.value : undefined;
}

async function realInside(root: string, path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real === null || (real !== root && !real.startsWith(root + sep))) {
    throw musterError(
      'repository_unsafe',
      `'${path.slice(root.length + 1)}' of the additional inventory leads out of it.`,
    );
  }
  return real;
}

/** Puts a file at `path` in one step; a link that stands there is replaced, not followed. */
async function replaceFile(path: string, text: string): Promise<void> {
  const part = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  try {
    const file = await open(part, 'wx', 0o644);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
}
