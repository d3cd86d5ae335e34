/** What a client on this machine may know of the stack of a data directory. No schema library: every command reads it. */
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../../drivers/machine/process-table.ts';

/** Where the administrator's token of a stack is, unless MUSTER_ADMIN_TOKEN_FILE says otherwise. */
export const adminTokenFile = (dataDir: string): string => join(dataDir, 'admin-token');

const stateFile = (dataDir: string): string => join(dataDir, 'stack.json');

interface OwnStack {
  /** Base URL of its API. */
  url: string;
  /** The API's process, while it has one. */
  api: { pid: number; start_time: string; boot_id: string } | null;
}

/**
 * Files with the certificates that the stack of this data directory was started with, so that its clients need not be told again.
 * None where another user wrote the state of a directory that was only found (`.muster` of the current folder): what is trusted here
 * is trusted for every connection of the process.
 */
export function ownCertificates(dataDir: string, isNamed: boolean): string[] {
  try {
    const file = stateFile(dataDir);
    const { uid } = statSync(file);
    if (!isNamed && uid !== 0 && uid !== process.getuid?.()) return [];
    const { certificates } = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(certificates) ? certificates.filter((path) => typeof path === 'string') : [];
  } catch {
    return [];
  }
}

/** The stack as it last wrote about itself; null when none was ever started here. */
export function readOwnStack(dataDir: string): OwnStack | null {
  try {
    const state = JSON.parse(readFileSync(stateFile(dataDir), 'utf8'));
    const url: unknown = state.links?.api;
    return typeof url === 'string' ? { url, api: state.components?.api?.process ?? null } : null;
  } catch {
    return null;
  }
}

/**
 * The administrator's token of the stack at `url`, for whoever may read its data directory; null for any other API, and while
 * the stack's own API does not run: somebody else could listen there and take the token.
 */
export async function readAdminToken(
  dataDir: string,
  url: string,
  file = adminTokenFile(dataDir),
): Promise<string | null> {
  const stack = readOwnStack(dataDir);
  if (stack === null || stack.api === null || !isSameOrigin(stack.url, url) || !(await isAlive(stack.api))) return null;
  return readFile(file, 'utf8').then(
    (text) => text.trim() || null,
    () => null,
  );
}

/** Whether two URLs name the same scheme, host and port; false where one is no URL. */
function isSameOrigin(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).origin === new URL(other).origin;
}

/** Names of this machine for itself, and the addresses by which a server listens on all of its own. */
const HERE = new Set(['localhost', '127.0.0.1', '[::1]', '0.0.0.0', '[::]']);

/** Whether two URLs lead to the same server, also where they name this machine in different ways. */
export function isSameServer(one: string, other: string): boolean {
  if (isSameOrigin(one, other)) return true;
  if (!URL.canParse(one) || !URL.canParse(other)) return false;
  const [a, b] = [new URL(one), new URL(other)];
  return a.protocol === b.protocol && a.port === b.port && HERE.has(a.hostname) && HERE.has(b.hostname);
}
