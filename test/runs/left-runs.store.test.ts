import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { takeStep } from '../../control/sessions/cluster/job-orders.ts';
import { closeLeftRuns } from '../../control/sessions/cluster/record-job.ts';
import { ensureRun, findRun, markRunStarted } from '../../store/runs/runs.ts';
import { fakeCluster } from '../support/kubernetes/fake-cluster.ts';
import { recordedJob } from '../support/kubernetes/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());

test('of a run that was under way when its pod ended, the events say once that the rest may be missing', async () => {
  const { db } = database;
  const { sessionId } = await recordedJob(db, fakeCluster());
  const of = { sessionId, streamId: sessionId, attempt: 1, host: 'kubernetes' };
  const [begun, ordered] = [`${sessionId}-1-0`, `${sessionId}-1-1`];
  await ensureRun(db, { ...of, id: begun, layer: 0 }, new Date());
  await ensureRun(db, { ...of, id: ordered, layer: 1 }, new Date());
  await markRunStarted(db, begun, new Date());
  await closeLeftRuns(db, sessionId, new Date());
  await closeLeftRuns(db, sessionId, new Date());
  for (const id of [begun, ordered]) expect((await findRun(db, id))?.state).toBe('lost');
  const events = db.selectFrom('events').select(['layer', 'type', 'data']).where('stream_id', '=', sessionId);
  const message = expect.stringMatching(/^its pod ended before .* may be missing$/);
  expect(await events.execute()).toEqual([{ layer: 0, type: 'warning', data: { message } }]);
});

test('of a run whose process was gone nothing is missing: its pod hands all in before it says so', async () => {
  const { db } = database;
  const { sessionId } = await recordedJob(db, fakeCluster());
  const id = `${sessionId}-1-0`;
  await ensureRun(db, { id, sessionId, streamId: sessionId, layer: 0, attempt: 1, host: 'kubernetes' }, new Date());
  await markRunStarted(db, id, new Date());
  await takeStep({ db, clock: () => new Date() }, sessionId, 'ansible', {
    state: 'failed',
    code: 'run_lost',
    message: 'its process is gone',
  });
  await closeLeftRuns(db, sessionId, new Date());
  expect((await findRun(db, id))?.state).toBe('lost');
  const events = db.selectFrom('events').select('data').where('stream_id', '=', sessionId);
  expect(JSON.stringify(await events.execute())).not.toContain('may be missing');
});
