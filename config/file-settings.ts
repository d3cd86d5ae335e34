import { resolve } from 'node:path';

/** Settings that name a file. */
const FILES = [
  'MUSTER_ADMIN_TOKEN_FILE',
  'MUSTER_TLS_CERT',
  'MUSTER_TLS_KEY',
  'MUSTER_CA_FILE',
  'MUSTER_DATABASE_CA_FILE',
  'MUSTER_TEMPORAL_TLS_CA',
  'MUSTER_TEMPORAL_TLS_CERT',
  'MUSTER_TEMPORAL_TLS_KEY',
] as const;

/**
 * The environment with every file as its whole path: processes that are started with it work in other folders. What only
 * the command line reads (its token) is left out, since no other process needs it.
 */
export function environmentOfProcesses(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { MUSTER_TOKEN: _token, MUSTER_TOKEN_FILE: _file, ...rest } = env;
  const files = FILES.flatMap((name) => {
    const path = rest[name];
    return path ? [[name, resolve(path)] as const] : [];
  });
  return { ...rest, ...Object.fromEntries(files) };
}
