/** Contexts: servers by name, with what belongs to each, in one file of the user. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliFailure, EXIT, usage } from './failure.ts';
import { fileTrouble } from './input/file-trouble.ts';
import { someOf } from './output/names.ts';

/** A server with what belongs to it. Members that a later release has written are kept. */
export interface ServerContext {
  url: string;
  token_file?: string;
  ca_file?: string;
  /** Only what changes nothing is sent; dry runs are. */
  read_only?: boolean;
  defaults?: { output?: string; time?: string };
}

export interface Contexts {
  /** Name of the context that is used where none is named. */
  current?: string;
  contexts: Record<string, ServerContext>;
}

/** A context with its name. */
export interface Profile extends ServerContext {
  name: string;
}

export interface ContextStore {
  /** The file of the contexts. */
  path: string;
  /** What the file says; nothing where there is none. Throws a `usage` failure for a file that others may read, or that is no such file. */
  read(): Promise<Contexts>;
  write(contexts: Contexts): Promise<void>;
  /** Where the token of a context is kept unless the context says otherwise. */
  tokenFile(name: string): string;
}

const OF_OTHERS = 0o077;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The contexts of the user of this environment. */
export function openContextStore(env: { XDG_CONFIG_HOME?: string; HOME?: string }): ContextStore {
  const folder = join(env.XDG_CONFIG_HOME || join(env.HOME || '.', '.config'), 'muster');
  const path = join(folder, 'config.yaml');
  return {
    path,
    read: async () => {
      const text = await readPrivate(path);
      return text === undefined ? { contexts: {} } : contextsOf(path, (await import('yaml')).parse, text);
    },
    write: async (contexts) => writePrivate(path, (await import('yaml')).stringify(contexts)),
    tokenFile: (name) => join(folder, 'tokens', name),
  };
}

/** The text of a file of the user alone; undefined where there is none. Throws a `usage` failure for a file that others may read. */
export async function readPrivate(path: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw usage(`cannot read ${path}: ${fileTrouble(error)}`);
  }
  try {
    const { mode, uid } = await file.stat();
    const own = process.getuid?.();
    if (own !== undefined && uid !== own && uid !== 0) throw usage(`${path} belongs to another user`);
    if ((mode & OF_OTHERS) !== 0) throw usage(`${path} may be read by others`, `\`chmod 600 ${path}\``);
    return await file.readFile('utf8');
  } catch (error) {
    throw error instanceof CliFailure ? error : usage(`cannot read ${path}: ${fileTrouble(error)}`);
  } finally {
    await file.close();
  }
}

/** Writes a file that its user alone may read: whole, or not at all. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CliFailure('usage', `cannot write ${path}: ${fileTrouble(error)}`, EXIT.usage);
  }
}

/** Throws a `usage` failure for a name that no context can have: it is part of the path of a file. */
export function requireContextName(name: string): string {
  if (NAME.test(name)) return name;
  throw usage(
    `'${name}' is no name of a context`,
    'it has 1 to 64 letters, digits or . _ -, and begins with a letter or digit',
  );
}

/** The context with the name, or the current one; undefined where none is meant. Throws `context_not_found`. */
export function profileOf({ current, contexts }: Contexts, wanted: string | undefined): Profile | undefined {
  const name = wanted ?? current;
  if (name === undefined) return undefined;
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found !== undefined) return { name, ...found };
  const known = someOf(Object.keys(contexts));
  const fix = known === '' ? '`./muster context set NAME --url URL` makes one' : `contexts are ${known}`;
  throw new CliFailure('context_not_found', `there is no context ${name}`, EXIT.notFound, fix);
}

/** Commands that ask no server, so that contexts that are wrong can be mended. */
const WITHOUT_CONTEXT = new Set(['context', 'completion', 'help']);
/** Flags with which no command is carried out. */
const ONLY_SHOWN = new Set(['--help', '-h', '--version', '-V']);

/** The context that a command uses, by its words without flags of the whole command line. Throws what is wrong with the file, and `context_not_found`. */
export async function profileInUse(
  store: ContextStore,
  wanted: string | undefined,
  words: readonly string[],
): Promise<Profile | undefined> {
  const [noun] = words;
  if (noun === undefined || WITHOUT_CONTEXT.has(noun) || words.some((word) => ONLY_SHOWN.has(word))) return undefined;
  return profileOf(await store.read(), wanted);
}

function contextsOf(path: string, parse: (text: string) => unknown, text: string): Contexts {
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    throw usage(`${path} is no YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  const { current, contexts = {} } = requireObject(value, path);
  if (current !== undefined && typeof current !== 'string') throw usage(`${path}: current must be a name`);
  const read: Record<string, ServerContext> = {};
  for (const [name, one] of Object.entries(requireObject(contexts, `${path}: contexts`))) {
    read[name] = serverContext(`${path}: context ${name}`, one);
  }
  return { ...(value as object), ...(current === undefined ? {} : { current }), contexts: read };
}

function serverContext(place: string, value: unknown): ServerContext {
  const given = requireObject(value, place);
  if (typeof given.url !== 'string' || !URL.canParse(given.url)) throw usage(`${place}: url must be a URL`);
  for (const member of ['token_file', 'ca_file']) {
    if (given[member] !== undefined && typeof given[member] !== 'string')
      throw usage(`${place}: ${member} must be the path of a file`);
  }
  if (given.read_only !== undefined && typeof given.read_only !== 'boolean')
    throw usage(`${place}: read_only must be true or false`);
  if (given.defaults !== undefined) requireObject(given.defaults, `${place}: defaults`);
  return given as unknown as ServerContext;
}

function requireObject(value: unknown, place: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw usage(`${place} must have members`);
}
