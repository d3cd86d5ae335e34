/** A complete session whose pod ran all layers by itself, in one run, is run again. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { retrySession } from '../../../control/sessions/retry-session.ts';
import { saveSessionJob } from '../../../store/sessions/session-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, snapshotLayer } from '../../support/temporal/engine-sessions.ts';
import { addRun, endSession } from '../session-fixtures.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test.each([
  ['compatible', 0, [0, 1]],
  ['compatible', 2, [0, 1]],
  ['restricted', 0, [1]],
] as const)('profile %s, whose first layer has a run that ended with %i', async (profile, exitCode, layers) => {
  const { db } = database;
  const session = await makeSession(db, {
    snapshot: {
      layers: [snapshotLayer(0), snapshotLayer(1)],
      additional_inventory: null,
      debug_playbook: null,
      ansible_config: 'c',
    },
  });
  const name = `cfs-${randomUUID()}`;
  await saveSessionJob(
    db,
    { sessionId: session.id, name, profile, inventory: { files: {} }, leases: false },
    new Date(),
  );
  await addRun(db, session.id, { layer: 0, exitCode, results: [] });
  await endSession(db, session.id, exitCode === 0 ? 'true' : 'false');
  const deps = {
    db,
    dispatcher: { kick: () => undefined },
    engine: { retryInPlace: async () => undefined },
    clock: () => new Date(),
  };
  const again = await retrySession(deps, { actor: null }, session.name, { hosts: 'all' });
  expect(again.session.snapshot.layers.map(({ index }) => index)).toEqual(layers);
});
