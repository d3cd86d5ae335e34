import { readFile } from 'node:fs/promises';
import { isSameServer, readAdminToken } from '../deploy/stack/own-stack.ts';
import { usage } from './failure.ts';

/**
 * Where the command line has its token from: MUSTER_TOKEN, else the file MUSTER_TOKEN_FILE, else, for the running stack of the
 * own data directory and for no other API, the administrator's token of that stack.
 */
export function openTokens(env: NodeJS.ProcessEnv, dataDir: string): (url: string) => Promise<string | undefined> {
  return async (url) => {
    if (env.MUSTER_TOKEN) return oneWord('MUSTER_TOKEN', env.MUSTER_TOKEN);
    if (env.MUSTER_TOKEN_FILE) return oneWord('MUSTER_TOKEN_FILE', await contentOf(env.MUSTER_TOKEN_FILE));
    return (await readAdminToken(dataDir, url, env.MUSTER_ADMIN_TOKEN_FILE || undefined)) ?? undefined;
  };
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

async function contentOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usage(`MUSTER_TOKEN_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** A header takes no blanks and line ends inside; the mistake is said without the token. */
function oneWord(name: string, text: string): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw usage(`${name} holds no token: it must be one word`);
  return token;
}
