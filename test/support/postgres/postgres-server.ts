import { appendFile, chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canReach } from '../../../deploy/stack/postgres-user.ts';
import { openDatabase } from '../../../store/connection/database.ts';
import { migrate } from '../../../store/migrations/index.ts';
import { memoryFolder } from '../fakes/memory-folder.ts';
import { freePort } from '../free-port.ts';
import { embeddedPostgres } from './embedded-postgres.ts';

export const TEMPLATE = 'muster_template';

export interface PostgresServer {
  /** URL of the maintenance database. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts a real Postgres in a folder of its own with a migrated template database; its settings favour speed. With a key
 * and a certificate (PEM) it takes TLS too.
 */
export async function startPostgresServer(tls?: { key: string; cert: string }): Promise<PostgresServer> {
  refuseClosedCheckout();
  const dir = await mkdtemp(join(memoryFolder(), 'muster-test-postgres-'));
  // Postgres runs as a user of its own when we are root, and must pass through this folder.
  await chmod(dir, 0o755);
  const port = await freePort();
  const server = embeddedPostgres(join(dir, 'data'), port, ['127.0.0.1']);
  await server.initialise();
  if (tls !== undefined) await turnTlsOn(join(dir, 'data'), tls);
  await server.start();
  await server.createDatabase(TEMPLATE);
  const base = `postgres://postgres:postgres@127.0.0.1:${port}`;
  const db = openDatabase({ url: `${base}/${TEMPLATE}`, poolSize: 2, patience: 30 });
  await migrate(db);
  await db.destroy();
  return {
    url: `${base}/postgres`,
    stop: async () => {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Somebody who owns nothing. */
const STRANGER = { uid: -1, gid: -1 };

/** As root the tests' Postgres runs as a user of its own, straight from the checkout; without this it fails without a reason. */
function refuseClosedCheckout(): void {
  if (process.getuid?.() !== 0 || canReach(import.meta.dirname, STRANGER)) return;
  throw new Error(
    `The tests run as root, and others may not pass through a folder above ${import.meta.dirname}: use another checkout`,
  );
}

/** Postgres takes a key only from a file that its own user alone may read. */
async function turnTlsOn(dataDir: string, { key, cert }: { key: string; cert: string }): Promise<void> {
  const { uid, gid } = await stat(dataDir);
  for (const [name, text] of [
    ['server.key', key],
    ['server.crt', cert],
  ] as const) {
    await writeFile(join(dataDir, name), text, { mode: 0o600 });
    await chown(join(dataDir, name), uid, gid);
  }
  await appendFile(join(dataDir, 'postgresql.conf'), '\nssl = on\n');
}
