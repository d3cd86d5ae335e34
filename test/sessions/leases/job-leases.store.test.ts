/** Components of a session whose Job may still be at work when the session has ended. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { cleanJobs } from '../../../control/sessions/cluster/clean-jobs.ts';
import { settleJob } from '../../../control/sessions/cluster/record-job.ts';
import { issueJobToken } from '../../../control/sessions/cluster/session-of-job-token.ts';
import type { JobOutcome } from '../../../domain/sessions/cluster/job-outcome.ts';
import { insertLeases, leasedComponents, releaseLeftLeases } from '../../../store/components/leases.ts';
import { writeEnd } from '../../../store/sessions/write-end.ts';
import { eventually } from '../../support/eventually.ts';
import { type FakeCluster, fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { ansible, recordedJob } from '../../support/kubernetes/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';

const END = { succeeded: 'false', message: 'cancelled', reason: 'cancelled' } as const;
const ENDED: JobOutcome = { succeeded: 'false', code: 'cancelled', message: 'its Job was ended' };
const LONG_AGO = new Date(0);

let database: TestDatabase;
let cluster: FakeCluster;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(async () => {
  cluster = fakeCluster();
  await database.db.deleteFrom('sessions').execute();
});

/** A session that has component `a`, and its Job; `started`: Kubernetes has it. */
async function working({ started = true } = {}) {
  const job = await recordedJob(database.db, cluster);
  if (started) await issueJobToken(database.db, job.sessionId, new Date());
  await insertLeases(database.db, job.sessionId, ['a'], new Date());
  cluster.put(job.name, { phase: 'running', containers: [ansible(null)] });
  return {
    ...job,
    settle: async (unverified: string | null) =>
      settleJob(
        database.db,
        job.sessionId,
        { view: await cluster.view(job.name), outcome: ENDED, unverified },
        new Date(),
      ),
    end: () => writeEnd(database.db, job.sessionId, END, new Date()),
  };
}

const held = () => leasedComponents(database.db, ['a']);
const sweep = (before = LONG_AGO) => releaseLeftLeases(database.db, before);

describe('the components of an ended session', () => {
  test('are given back at once when its Job was seen to stop', async () => {
    const { settle, end } = await working();
    await settle(null);
    await end();
    expect(await held()).toEqual([]);
  });

  test('are given back at once when its Job was never made', async () => {
    const { end } = await working({ started: false });
    await end();
    expect(await held()).toEqual([]);
  });

  test.each([
    ['its node is away', 'node not ready'],
    ['the cluster does not answer', null],
  ])('are kept while its Job may be at work since %s, until it is seen to stop', async (_what, unverified) => {
    const { name, settle, end } = await working();
    if (unverified !== null) await settle(unverified);
    await end();
    await sweep();
    expect(await held()).toEqual(['a']);
    cluster.put(name, { phase: 'deleting', containers: [ansible(137)] });
    await eventually(
      'it is ended',
      async () => (await cleanJobs({ db: database.db, cluster, clock: () => new Date() })).problems.length === 0,
    );
    await sweep();
    expect(await held()).toEqual([]);
  });

  test('are given back in the end though its node never comes back', async () => {
    const { settle, end } = await working();
    await settle('node not ready');
    await end();
    expect(await sweep(new Date(Date.now() + 1_000))).toBe(true);
    expect(await held()).toEqual([]);
  });
});
