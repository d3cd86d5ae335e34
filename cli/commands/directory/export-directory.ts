import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import { fileTrouble } from '../../input/file-trouble.ts';
import { apiOf, type ServerOptions } from '../../options.ts';
import { counted, someOf } from '../../output/names.ts';
import { renderValue } from '../../output/render.ts';
import { KINDS, type Kind, keptOf, nameOf, RULES, storedRecords } from './kinds.ts';
import { secretsOfApi } from './missing-secrets.ts';

export interface ExportDirectoryOptions extends ServerOptions {
  withState?: boolean;
}

/**
 * Writes each record into a file of its own, below the folder of its kind, and the names of secrets with their keys. Values of secrets and
 * tokens are in no answer that it reads. Files of records that are gone stay, and are named.
 */
export async function exportDirectory(
  context: CliContext,
  directory: string,
  { withState = false, ...options }: ExportDirectoryOptions,
): Promise<void> {
  const api = apiOf(context, options);
  const counts: string[] = [];
  const left: string[] = [];
  for (const kind of KINDS) {
    const folder = join(directory, kind);
    await writing(folder, mkdir(folder, { recursive: true }));
    const written = new Set<string>();
    for await (const record of storedRecords(api, kind, withState)) {
      const file = fileNameOf(nameOf(kind, record));
      await writeWhole(join(folder, file), await renderValue(keptOf(kind, record, withState), 'yaml'));
      written.add(file);
    }
    counts.push(countOf(kind, written.size));
    const there = await writing(folder, readdir(folder));
    left.push(
      ...there.filter((file) => file.endsWith('.yaml') && !written.has(file)).map((file) => join(folder, file)),
    );
  }
  const secrets = await secretsOfApi(api);
  if (secrets === null) say(context, 'warning: the names of secrets are left out: this needs role admin');
  else {
    const named = secrets.map(({ name, keys }) => ({ name, keys }));
    await writeWhole(join(directory, 'secrets.yaml'), await renderValue(named, 'yaml'));
  }
  say(context, `${counts.join(', ')} written to ${directory}`);
  if (left.length > 0) say(context, `warning: files of no record of now are left as they are: ${someOf(left.sort())}`);
}

const countOf = (kind: Kind, count: number): string =>
  RULES[kind].key === null ? RULES[kind].noun : counted(count, RULES[kind].noun);

/** Longest name of a file that every file system takes, less its ending. */
const LONGEST = 200;

/** The file of a record: its name, percent-encoded; a long name is cut, and told from others by a digest. */
export function fileNameOf(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed()).replace(/^\.|\*/g, (sign) => (sign === '.' ? '%2E' : '%2A'));
  if (encoded.length <= LONGEST) return `${encoded}.yaml`;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${encoded.slice(0, LONGEST - 17)}~${digest}.yaml`;
}

/** Writes a file as a whole: what breaks off leaves the file of before. */
async function writeWhole(file: string, text: string): Promise<void> {
  const next = `${file}.new`;
  await writing(file, writeFile(next, text));
  await writing(file, rename(next, file));
}

async function writing<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw usage(`cannot write ${path}: ${fileTrouble(error)}`);
  }
}
