import { rm } from 'node:fs/promises';
import type { StartedForTests } from './global-setup.ts';

export default async function globalTeardown(): Promise<void> {
  const scope = globalThis as StartedForTests;
  await scope.stopTestTemporal?.();
  await scope.stopTestPostgres?.();
  const bundles = process.env.MUSTER_TEST_BUNDLES;
  if (bundles !== undefined) await rm(bundles, { recursive: true, force: true });
}
