/** Definitions in a folder of this machine, as they are uploaded. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { VERSION_FOLDER } from '../../../domain/propagation/git-repository.ts';
import { usage } from '../../failure.ts';

const META_FILE = 'meta.yaml';
const MOST_FILES = 2_000;
/** Bytes of the content of a definition at most; the API takes no more. */
const LARGEST = 16 * 2 ** 20;

export interface FoundDefinition {
  name: string;
  version: string;
  /** Text, or bytes in base64, by path. */
  files: Record<string, string | { base64: string }>;
}

/**
 * Reads every definition in a folder and below it: each folder with a `meta.yaml`. A definition has the name of its folder; a folder that
 * is named by a version has the name of the folder above.
 * Throws a `CliFailure`.
 */
export async function readDefinitionFolders(folder: string): Promise<FoundDefinition[]> {
  const folders = await foldersOf(resolve(folder));
  if (folders.length === 0) throw usage(`${folder} has no ${META_FILE}, nor has a folder below it`);
  const found: FoundDefinition[] = [];
  for (const one of folders) {
    const definition = await readDefinition(one);
    const same = found.find(({ name, version }) => name === definition.name && version === definition.version);
    if (same !== undefined) throw usage(`${folder} has the definition ${same.name}:${same.version} twice`);
    found.push(definition);
  }
  return found;
}

async function foldersOf(folder: string): Promise<string[]> {
  const entries = await reading(folder, readdir(folder, { withFileTypes: true }));
  if (entries.some(({ name }) => name === META_FILE)) return [folder];
  const below = entries.filter((entry) => entry.isDirectory() && entry.name !== '.git').map(({ name }) => name);
  const found: string[] = [];
  for (const name of below.sort()) found.push(...(await foldersOf(join(folder, name))));
  return found;
}

async function readDefinition(folder: string): Promise<FoundDefinition> {
  const paths = await filesOf(folder);
  const contents: [string, Buffer][] = [];
  for (const path of paths) contents.push([path, await reading(path, readFile(join(folder, path)))]);
  const files = Object.fromEntries(contents.map(([path, bytes]) => [path, shown(bytes)]));
  const meta = contents.find(([path]) => path === META_FILE)?.[1].toString('utf8') ?? '';
  const isVersion = VERSION_FOLDER.test(basename(folder));
  return { name: basename(isVersion ? dirname(folder) : folder), version: await versionOf(meta, folder), files };
}

/** Paths of the files of a definition. A link may only lead to a file of the definition. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await reading(folder, readdir(folder, { withFileTypes: true, recursive: true }));
  const root = await realpath(folder);
  const paths: string[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const shownPath = relative(folder, path).split(sep).join('/');
    if (entry.isDirectory() || shownPath.startsWith('.git/')) continue;
    const place = await reading(path, realpath(path));
    const { size, isFile } = await reading(
      path,
      stat(path).then((found) => ({ size: found.size, isFile: found.isFile() })),
    );
    if (!isFile || !place.startsWith(`${root}${sep}`)) {
      throw usage(`${path} is no file of the definition: links out of it and special files are not uploaded`);
    }
    paths.push(shownPath);
    bytes += size;
  }
  if (paths.length > MOST_FILES || bytes > LARGEST) {
    throw usage(
      `${folder} has ${paths.length} files with ${bytes} bytes: at most ${MOST_FILES} and ${LARGEST} are allowed`,
    );
  }
  return paths.sort();
}

/** Text as it is; whatever is none, or cannot stand in JSON, in base64. */
function shown(bytes: Buffer): string | { base64: string } {
  const text = bytes.toString('utf8');
  const isText = !text.includes('\0') && Buffer.from(text, 'utf8').equals(bytes);
  return isText ? text : { base64: bytes.toString('base64') };
}

/** The version that a `meta.yaml` names, as it is written there. */
async function versionOf(meta: string, folder: string): Promise<string> {
  const { isScalar, parseDocument } = await import('yaml');
  const document = parseDocument(meta, { logLevel: 'silent' });
  const [mistake] = document.errors;
  if (mistake !== undefined) throw usage(`${join(folder, META_FILE)} is no YAML: ${mistake.message.split('\n')[0]}`);
  const version = document.get('version', true);
  if (!isScalar(version) || version.value === null) return '1.0.0';
  return typeof version.value === 'string' ? version.value : (version.source ?? String(version.value));
}

async function reading<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw usage(`cannot read ${path}: ${error instanceof Error ? error.message : error}`);
  }
}
