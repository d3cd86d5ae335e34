/** A complete session on images is run again: from the beginning, and `failed` for what did not become a new image. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { retrySession } from '../../../control/sessions/retry-session.ts';
import { saveSessionImages, writeImageResult, writeSessionImage } from '../../../store/sessions/session-images.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, snapshotLayer } from '../../support/temporal/engine-sessions.ts';
import { addRun, endSession } from '../session-fixtures.ts';

const GOOD = '5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11';
const BAD = '6f1d3c5f-2f0a-4d57-9f3e-0f6a3c6f0d22';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const deps = () => ({
  db: database.db,
  dispatcher: { kick: () => undefined },
  engine: { retryInPlace: async () => undefined },
  clock: () => new Date(),
});

/** A session of two layers, of whose images one became a new one and the other failed in layer 1. */
async function halfDone(given: Parameters<typeof makeSession>[1] = {}) {
  const groups = [
    { name: 'web', members: [GOOD, BAD] },
    { name: 'done', members: [GOOD] },
  ];
  const image_map = [
    { source_id: GOOD, result_name: 'good' },
    { source_id: BAD, result_name: 'bad' },
  ];
  const session = await makeSession(database.db, {
    target: { definition: 'image', groups, image_map },
    snapshot: {
      layers: [snapshotLayer(0), snapshotLayer(1)],
      additional_inventory: null,
      debug_playbook: null,
      ansible_config: 'c',
    },
    ...given,
  });
  const { db } = database;
  const applied = (host: string) => ({ host, status: 'applied' as const });
  await addRun(db, session.id, { layer: 0, exitCode: 0, results: [applied(GOOD), applied(BAD)] });
  const results = [applied(GOOD), { host: BAD, status: 'failed' as const }];
  await addRun(db, session.id, { layer: 1, exitCode: 2, results });
  const now = new Date();
  await saveSessionImages(
    db,
    session.id,
    [
      { image: GOOD, resultName: 'good' },
      { image: BAD, resultName: 'bad' },
    ],
    now,
  );
  await writeImageResult(db, session.id, { image_id: GOOD, result_id: 'new', type: 'ims_customized_image' }, now);
  await writeSessionImage(db, session.id, BAD, { state: 'failed', message: 'layer 1 failed' }, now);
  await endSession(db, session.id, 'false');
  return session;
}

test('all: every layer, the same images, nothing of what the first one has made', async () => {
  const original = await halfDone();
  const { session } = await retrySession(deps(), { actor: null }, original.name, {});
  expect(session.snapshot).toEqual(original.snapshot);
  expect(session).toMatchObject({
    target: original.target,
    configuration_limit: '',
    ansible_limit: '',
    artifacts: [],
    ims_job: null,
    ims_jobs: [],
    retry_of: original.id,
  });
});

test('failed: every layer, on the images alone that did not become new ones', async () => {
  const original = await halfDone();
  const { session } = await retrySession(deps(), { actor: null }, original.name, { hosts: 'failed' });
  expect(session.snapshot).toEqual(original.snapshot);
  expect(session).toMatchObject({ configuration_limit: '', ansible_limit: '' });
  expect(session.target).toEqual({
    definition: 'image',
    groups: [{ name: 'web', members: [BAD] }],
    image_map: [{ source_id: BAD, result_name: 'bad' }],
  });
});

test('failed: a session that broke off before it looked at its images failed on all', async () => {
  const target = { definition: 'image' as const, groups: [{ name: 'web', members: [GOOD, BAD] }], image_map: null };
  const original = await makeSession(database.db, { target });
  await endSession(database.db, original.id, 'false');
  const { session } = await retrySession(deps(), { actor: null }, original.name, { hosts: 'failed' });
  expect(session.target).toEqual(target);
});

test('failed: what the limit has left out did not fail', async () => {
  const left = await halfDone({ ansibleLimit: 'done' });
  const one = { ...deps(), db: database.db };
  await database.db.deleteFrom('host_results').where('session_id', '=', left.id).where('host', '=', BAD).execute();
  await database.db.deleteFrom('events').where('stream_id', '=', left.id).where('host', '=', BAD).execute();
  await expect(retrySession(one, { actor: null }, left.name, { hosts: 'failed' })).rejects.toMatchObject({
    code: 'nothing_failed',
  });
});
