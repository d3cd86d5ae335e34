import { rm } from 'node:fs/promises';

export default async function globalTeardown(): Promise<void> {
  await (globalThis as { stopTestPostgres?: () => Promise<void> }).stopTestPostgres?.();
  const bundles = process.env.MUSTER_TEST_BUNDLES;
  if (bundles !== undefined) await rm(bundles, { recursive: true, force: true });
}
