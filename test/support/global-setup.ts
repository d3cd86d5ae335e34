import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgresServer } from './postgres-server.ts';

/**
 * Once per test run: one Postgres for all suites, each of which makes its own database in it, and a folder for the bundles of
 * the workflows.
 */
export default async function globalSetup(): Promise<void> {
  process.env.MUSTER_TEST_BUNDLES = await mkdtemp(join(tmpdir(), 'muster-test-bundles-'));
  const server = await startPostgresServer();
  process.env.MUSTER_TEST_POSTGRES_URL = server.url;
  (globalThis as { stopTestPostgres?: () => Promise<void> }).stopTestPostgres = server.stop;
}
