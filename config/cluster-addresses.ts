import type { Environment } from './environment.ts';

const POSTGRES = 5432;
const TEMPORAL = 7233;

/** Returns where connections to member clusters may lead. Muster's own database, Temporal and API are never among it. */
export function clusterAddressRules(env: Environment) {
  const database = env.MUSTER_DATABASE_URL === undefined ? null : placeOf(env.MUSTER_DATABASE_URL, POSTGRES);
  const temporal = placeOf(`any://${env.MUSTER_TEMPORAL_ADDRESS ?? `127.0.0.1:${env.MUSTER_TEMPORAL_PORT}`}`, TEMPORAL);
  const api = { host: env.MUSTER_API_HOST, port: env.MUSTER_API_PORT };
  return {
    allowLoopback: env.MUSTER_DEPLOY_ALLOW_LOOPBACK,
    networks: env.MUSTER_DEPLOY_CLUSTER_NETWORKS,
    own: [...(database === null ? [] : [database]), temporal, api],
  };
}

function placeOf(url: string, port: number): { host: string; port: number } {
  const parsed = new URL(url);
  return { host: parsed.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(parsed.port || port) };
}
