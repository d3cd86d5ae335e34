import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { memoryFolder } from '../fakes/memory-folder.ts';
import { openProxy } from '../fakes/tcp-proxy.ts';
import { freePort } from '../free-port.ts';
import { embeddedPostgres } from '../postgres/embedded-postgres.ts';
import { startPlainTemporal } from '../temporal/plain-temporal.ts';
import { hostAddress } from './dev-cluster.ts';

/** What a site has beside its cluster: a Postgres and a Temporal server on this machine that pods reach. */
export interface ServersForPods {
  /** URL of an empty database, for pods and for this machine. */
  databaseUrl: string;
  /** host:port */
  temporalAddress: string;
  databasePort: number;
  temporalPort: number;
  stop(): Promise<void>;
}

export async function startServersForPods(): Promise<ServersForPods> {
  const host = hostAddress();
  const dir = await mkdtemp(join(memoryFolder(), 'muster-test-servers-'));
  // Postgres runs as a user of its own when we are root, and must pass through this folder.
  await chmod(dir, 0o755);
  const databasePort = await freePort();
  const postgres = embeddedPostgres(join(dir, 'data'), databasePort, ['127.0.0.1', host]);
  await postgres.initialise();
  await appendFile(join(dir, 'data', 'pg_hba.conf'), 'host all all 0.0.0.0/0 password\n');
  await postgres.start();
  await postgres.createDatabase('muster');
  // The development server finds itself on loopback only.
  const temporal = await startPlainTemporal();
  const way = await openProxy(`127.0.0.1:${temporal.port}`, host);
  return {
    databaseUrl: `postgres://postgres:postgres@${host}:${databasePort}/muster`,
    temporalAddress: way.address,
    databasePort,
    temporalPort: Number(way.address.split(':')[1]),
    stop: async () => {
      await way.cut();
      await temporal.stop();
      await postgres.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
