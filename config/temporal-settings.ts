import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Environment } from './environment.ts';

/** How to reach the Temporal server that the environment names, or the embedded one; reads the PEM files. */
export function temporalSettings(env: Environment, role: string) {
  const read = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path, 'utf8'));
  const ca = read(env.MUSTER_TEMPORAL_TLS_CA);
  const cert = read(env.MUSTER_TEMPORAL_TLS_CERT);
  const key = read(env.MUSTER_TEMPORAL_TLS_KEY);
  const tls = env.MUSTER_TEMPORAL_TLS ?? (ca !== undefined || cert !== undefined);
  return {
    address: env.MUSTER_TEMPORAL_ADDRESS ?? `127.0.0.1:${env.MUSTER_TEMPORAL_PORT}`,
    namespace: env.MUSTER_TEMPORAL_NAMESPACE,
    apiKey: env.MUSTER_TEMPORAL_API_KEY,
    tls: tls ? { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) } : undefined,
    identity: `muster-${role}@${hostname()}:${process.pid}`,
  };
}
