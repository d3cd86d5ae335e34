import { readFile } from 'node:fs/promises';
import { isSameServer, readAdminToken } from '../deploy/stack/own-stack.ts';
import { type Profile, readPrivate } from './context-file.ts';
import { usage } from './failure.ts';

/** What names a token besides the environment. */
export interface NamedTokens {
  /** The file of `--token-file`. */
  tokenFile?: string | undefined;
  /** The context in use. */
  profile?: Profile | undefined;
  /** Whether the context was named by `--context`, so that it comes before the environment. */
  isNamed?: boolean;
}

/**
 * Where the command line has its token from: `--token-file`, the context of `--context`, MUSTER_TOKEN, the file MUSTER_TOKEN_FILE, the current
 * context, else, for the running stack of the own data directory and for no other API, the administrator's token of that stack.
 */
export function openTokens(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  { tokenFile, profile, isNamed = false }: NamedTokens = {},
): (url: string) => Promise<string | undefined> {
  return async (url) => {
    if (tokenFile !== undefined) return oneWord('--token-file', await contentOf('--token-file', tokenFile));
    const kept = profile && (await contextToken(profile, url));
    if (isNamed && kept !== undefined) return kept;
    if (env.MUSTER_TOKEN) return oneWord('MUSTER_TOKEN', env.MUSTER_TOKEN);
    if (env.MUSTER_TOKEN_FILE)
      return oneWord('MUSTER_TOKEN_FILE', await contentOf('MUSTER_TOKEN_FILE', env.MUSTER_TOKEN_FILE));
    return kept ?? (await readAdminToken(dataDir, url, env.MUSTER_ADMIN_TOKEN_FILE || undefined)) ?? undefined;
  };
}

/** The token of a context for its server; undefined for any other, and where none is kept. Throws a `usage` failure where others could read it on its way. */
async function contextToken({ name, url, token_file: file }: Profile, asked: string): Promise<string | undefined> {
  if (file === undefined || !isSameServer(url, asked)) return undefined;
  const text = await readPrivate(file);
  if (text === undefined) return undefined;
  requireSafeWay(asked, `the token of context ${name}`);
  return oneWord(file, text);
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Throws a `usage` failure for a URL on whose way others could read a token: it goes by TLS, or stays on this machine. */
export function requireSafeWay(url: string, what: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return;
  throw usage(`${what} is sent by TLS or on this machine alone, and ${url} is neither`, 'write https://');
}

/**
 * The token for the stack of the own data directory, at `url`, whatever the environment says of another API: the administrator's of
 * that stack, else what `tokenFor` has, where that is meant for the same API (`defaultUrl`).
 */
export function openStackToken(
  env: NodeJS.ProcessEnv,
  dataDir: string,
  { tokenFor, defaultUrl }: { tokenFor(url: string): Promise<string | undefined>; defaultUrl: string },
): (url: string) => Promise<string | undefined> {
  return async (url) => {
    const own = await readAdminToken(dataDir, url, env.MUSTER_ADMIN_TOKEN_FILE || undefined);
    return own ?? (isSameServer(url, defaultUrl) ? tokenFor(url) : undefined);
  };
}

async function contentOf(name: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usage(`${name}: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** A header takes no blanks and line ends inside; the mistake is said without the token. */
export function oneWord(name: string, text: string): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw usage(`${name} holds no token: it must be one word`);
  return token;
}
