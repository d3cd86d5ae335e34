import { startPostgresServer } from './postgres-server.ts';

/** Once per test run: one Postgres for all suites, each of which makes its own database in it. */
export default async function globalSetup(): Promise<void> {
  const server = await startPostgresServer();
  process.env.MUSTER_TEST_POSTGRES_URL = server.url;
  (globalThis as { stopTestPostgres?: () => Promise<void> }).stopTestPostgres = server.stop;
}
