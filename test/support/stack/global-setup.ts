import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { temporalMissing } from '../temporal/temporal-binary.ts';
import { startDevServer } from '../temporal/test-server.ts';

/** Levels whose tests start whole stacks. */
const WITH_STACKS = ['e2e', 'cluster'];

/**
 * Once per test run: one Postgres for all files, each of which makes its own database in it, and a folder for the bundles of
 * the workflows; for whole stacks also a Temporal, in which each has its own namespace.
 */
export default async function globalSetup(_run: unknown, { displayName }: LevelOfTests): Promise<void> {
  process.env.MUSTER_TEST_BUNDLES = await mkdtemp(join(tmpdir(), 'muster-test-bundles-'));
  const server = await startPostgresServer();
  process.env.MUSTER_TEST_POSTGRES_URL = server.url;
  const scope = globalThis as StartedForTests;
  scope.stopTestPostgres = server.stop;
  if (!WITH_STACKS.includes(displayName?.name ?? '') || temporalMissing() !== null) return;
  const { port, stop } = await startDevServer([]);
  scope.stopTestTemporal = stop;
  process.env.MUSTER_TEST_TEMPORAL_ADDRESS = `127.0.0.1:${port}`;
}

/** What has to be stopped when the tests have ended. */
export interface StartedForTests {
  stopTestPostgres?: () => Promise<void>;
  stopTestTemporal?: () => Promise<void>;
}

/** What Jest says of the project whose tests are to run. */
export interface LevelOfTests {
  displayName?: { name: string };
}
