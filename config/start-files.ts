import type { Environment } from './environment.ts';

const CERT = 'MUSTER_TEMPORAL_TLS_CERT';
const KEY = 'MUSTER_TEMPORAL_TLS_KEY';
/** Files that every process reads. */
const SERVERS = ['MUSTER_DATABASE_CA_FILE', 'MUSTER_TEMPORAL_TLS_CA', CERT, KEY] as const;

/**
 * Certificates and key for servers of the site that a process reads at its start and never again, as path by setting. A process
 * that works on images alone (`images`) asks no servers but database and Temporal.
 */
export function startFiles(env: Environment, role: 'api' | 'worker' | 'images') {
  const names = role === 'images' ? SERVERS : ([...SERVERS, 'MUSTER_CA_FILE'] as const);
  const files: Record<string, string> = {};
  for (const name of names) {
    const path = env[name];
    if (path !== undefined) files[name] = path;
  }
  return { files, pair: CERT in files && KEY in files ? { cert: CERT, key: KEY } : undefined };
}
