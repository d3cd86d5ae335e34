/** Reads a directory of records, or one file of them. */
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CliContext } from '../../context.ts';
import { usage } from '../../failure.ts';
import { type Document, readAnyDocuments, requiredText } from '../../input/documents.ts';
import { fileTrouble } from '../../input/file-trouble.ts';
import { KINDS, type Kind, kindOf, OPTIONS_NAME, RULES } from './kinds.ts';

export interface FileRecord {
  kind: Kind;
  name: string;
  /** Where it stands. */
  file: string;
  record: Document;
}

export interface NamedSecret {
  name: string;
  keys: string[];
}

export interface Directory {
  records: FileRecord[];
  /** Kinds that have a folder, also an empty one. */
  folders: ReadonlySet<Kind>;
  /** The secrets that are named, without values. */
  secrets: NamedSecret[];
}

const RECORDS = /\.(ya?ml|json)$/i;
const SECRETS = /^secrets\.(ya?ml|json)$/i;

/**
 * Reads all records of a directory, of a file, or of stdin for `-`. The kind of a record is its member `kind`, or that of the folder that its
 * file is in; `only` is the kind where neither says it. Folders and files whose names begin with a dot are left out, and files
 * that are neither YAML nor JSON. Throws a `usage` failure that names the file.
 */
export async function readDirectory(context: CliContext, path: string, only?: Kind): Promise<Directory> {
  const files = path === '-' || !(await isFolder(path)) ? [{ file: path, kind: only }] : await filesOf(path, only);
  const folders = new Set(path === '-' ? [] : await foldersOf(path));
  const records: FileRecord[] = [];
  const secrets: NamedSecret[] = [];
  for (const { file, kind } of files) {
    if (kind === undefined && SECRETS.test(basename(file))) secrets.push(...(await secretsOf(context, file)));
    else records.push(...(await recordsOf(context, file, kind)));
  }
  refuseTwice(records);
  const place = ({ kind }: FileRecord) => KINDS.indexOf(kind);
  return { records: records.sort((one, other) => place(one) - place(other)), folders, secrets };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw usage(`cannot read ${path}: ${fileTrouble(error)}`);
  }
}

async function foldersOf(path: string): Promise<Kind[]> {
  if (!(await isFolder(path))) return [];
  const entries = await readdir(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => kindOf(name) ?? []);
}

/** The files of records with the kind of the folder at the top that each is in, by path. */
async function filesOf(path: string, only: Kind | undefined): Promise<{ file: string; kind: Kind | undefined }[]> {
  const below = await readdir(path, { recursive: true });
  const chosen = below.filter((one) => RECORDS.test(one) && !one.split('/').some((part) => part.startsWith('.')));
  return chosen.sort().map((one) => {
    const [folder = '', ...rest] = one.split('/');
    return { file: join(path, one), kind: rest.length > 0 ? kindOf(folder) : only };
  });
}

async function recordsOf(context: CliContext, file: string, ofFolder: Kind | undefined): Promise<FileRecord[]> {
  const documents = await readAnyDocuments(context, file, ofFolder ?? '');
  return documents.map((document, index) => {
    const { kind: word, ...record } = document;
    const kind = kindOfRecord(file, index, word, ofFolder);
    const { key, noun } = RULES[kind];
    if (key === null) return { kind, name: OPTIONS_NAME, file, record };
    // A source without a name is called by its URL.
    const member = kind === 'sources' && record.name === undefined ? 'clone_url' : key;
    const name = requiredText(record, member, `${file}: ${noun} ${index}`);
    return { kind, name, file, record: { [key]: name, ...record } };
  });
}

function kindOfRecord(file: string, index: number, word: unknown, ofFolder: Kind | undefined): Kind {
  const known = `known kinds are ${KINDS.map((kind) => RULES[kind].noun).join(', ')}`;
  if (word === undefined) {
    if (ofFolder !== undefined) return ofFolder;
    throw usage(
      `${file}: entry ${index} has no kind`,
      `give it a member kind, or put the file into a folder; ${known}`,
    );
  }
  const kind = typeof word === 'string' ? kindOf(word) : undefined;
  if (kind === undefined) throw usage(`${file}: entry ${index} has the unknown kind ${JSON.stringify(word)}`, known);
  if (ofFolder !== undefined && kind !== ofFolder) {
    throw usage(`${file}: entry ${index} has the kind ${RULES[kind].noun}, and its folder is for ${ofFolder}`);
  }
  return kind;
}

async function secretsOf(context: CliContext, file: string): Promise<NamedSecret[]> {
  const documents = await readAnyDocuments(context, file, 'secrets');
  return documents.map((document, index) => {
    const { keys = [] } = document;
    const name = requiredText(document, 'name', `${file}: secret ${index}`);
    if (!Array.isArray(keys) || !keys.every((key) => typeof key === 'string')) {
      throw usage(`${file}: keys of secret ${name} must be a list of names; values do not belong here`);
    }
    return { name, keys };
  });
}

function refuseTwice(records: readonly FileRecord[]): void {
  const files = new Map<string, string>();
  for (const { kind, name, file } of records) {
    const id = `${kind}/${name}`;
    const other = files.get(id);
    if (other !== undefined) throw usage(`${RULES[kind].noun} ${name} stands twice: in ${other} and in ${file}`);
    files.set(id, file);
  }
}
