import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { endJob, watchJob } from '../../../activities/sessions/cluster/watch-job.ts';
import { findSessionJob } from '../../../store/sessions/session-jobs.ts';
import { type FakeCluster, fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { ansible, recordedJob } from '../../support/kubernetes/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { watchDependencies } from '../../support/postgres/watch-dependencies.ts';
import { makeSession } from '../../support/temporal/engine-sessions.ts';

let database: TestDatabase;
let cluster: FakeCluster;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(() => {
  cluster = fakeCluster();
});

const makeJob = () => recordedJob(database.db, cluster);
const deps = () => watchDependencies(database.db, cluster);
const watch = (sessionId: string) =>
  new MockActivityEnvironment().run(() => watchJob(deps(), sessionId, new AbortController().signal));

describe('ending a Job', () => {
  const end = (sessionId: string) => endJob(deps(), sessionId, new AbortController().signal);

  test('is harmless without one, and twice', async () => {
    const session = await makeSession(database.db);
    expect(await end(session.id)).toEqual({ unverified: null });
    const { sessionId, name } = await makeJob();
    expect(await end(sessionId)).toEqual({ unverified: null });
    expect(await end(sessionId)).toEqual({ unverified: null });
    expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
  });

  test('that had done all its work stores that it succeeded: whether its session was cancelled is another matter', async () => {
    const { sessionId, name } = await makeJob();
    cluster.put(name, { containers: [ansible(0)] });
    expect(await end(sessionId)).toEqual({ unverified: null });
    expect(await watch(sessionId)).toEqual({ succeeded: 'true', reason: null, message: 'complete' });
  });

  test('once more, when its node is back, adds the exit codes that nobody could tell before', async () => {
    const { sessionId, name } = await makeJob();
    cluster.put(name, { containers: [ansible(null)] });
    cluster.unverified = 'node not ready';
    expect(await end(sessionId)).toEqual({ unverified: 'node not ready' });
    cluster.put(name, { containers: [ansible(137)] });
    cluster.unverified = null;
    expect(await end(sessionId)).toEqual({ unverified: null });
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({
      exit_codes: { ansible: 137 },
      end_code: 'cancelled',
    });
  });
});
