import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { cleanJobs } from '../../../control/sessions/cluster/clean-jobs.ts';
import { issueJobToken, sessionOfJobToken } from '../../../control/sessions/cluster/session-of-job-token.ts';
import { exitCodesOf } from '../../../domain/sessions/cluster/job-outcome.ts';
import { ensureRun, findRun } from '../../../store/runs/runs.ts';
import { findSessionJob, saveExitCodes } from '../../../store/sessions/session-jobs.ts';
import { type FakeCluster, fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { ansible, recordedJob } from '../../support/kubernetes/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';

let database: TestDatabase;
let cluster: FakeCluster;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(async () => {
  cluster = fakeCluster();
  // What a test before has left is none of this one's business.
  await database.db.deleteFrom('session_jobs').execute();
});

const makeJob = (state: 'open' | 'over' | 'deleted' = 'open') => recordedJob(database.db, cluster, state);

async function openRunOf(sessionId: string): Promise<string> {
  const id = `${sessionId}-1-0`;
  await ensureRun(
    database.db,
    { id, sessionId, streamId: sessionId, layer: 0, attempt: 1, host: 'kubernetes' },
    new Date(),
  );
  return id;
}

describe('the clean-up', () => {
  test('leaves Jobs of open sessions alone, and those that ended until they are too old', async () => {
    const open = await makeJob();
    const over = await makeJob('over');
    cluster.put(over.name, { phase: 'complete' });
    expect(await cleanJobs({ db: database.db, cluster, clock: () => new Date() })).toEqual({ ended: [], problems: [] });
    expect(cluster.done).toEqual([`release ${over.name}`]);
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(cluster.done).toEqual([`release ${over.name}`]);
    expect((await cluster.view(open.name)).phase).toBe('running');
  });

  test('ends what nobody owns, what is left of ended sessions, and Jobs of deleted ones', async () => {
    const left = await makeJob('over');
    const deleted = await makeJob('deleted');
    cluster.put(deleted.name, { phase: 'complete' });
    cluster.put('cfs-nobodys');
    const { ended } = await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(ended.sort()).toEqual([left.name, deleted.name, 'cfs-nobodys'].sort());
    expect(await cluster.list()).toEqual([]);
    expect(await findSessionJob(database.db, left.sessionId)).toMatchObject({ end_code: 'workflow_ended' });
  });

  test('ends what the Job of an ended session has left when somebody took the Job alone', async () => {
    const { name, sessionId } = await makeJob('over');
    cluster = fakeCluster();
    cluster.unverified = 'node not ready';
    expect((await cleanJobs({ db: database.db, cluster, clock: () => new Date() })).problems).toContain(
      `Job ${name}: not verified: node not ready`,
    );
    cluster.unverified = null;
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(cluster.done).toEqual(expect.arrayContaining([`end ${name}`, `release ${name}`]));
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({ released_at: expect.any(Date) });
  });

  test('leaves a Job that was let go while it looked', async () => {
    const { name, sessionId } = await makeJob('over');
    cluster.put(name, { phase: 'complete', sessionId });
    cluster.list = async () => [];
    expect(await cleanJobs({ db: database.db, cluster, clock: () => new Date() })).toEqual({ ended: [], problems: [] });
    expect(cluster.done).toEqual([`release ${name}`]);
    expect((await cluster.view(name)).phase).toBe('complete');
    expect((await findSessionJob(database.db, sessionId))?.released_at).toEqual(expect.any(Date));
  });

  test('ends a pod that came after its Job was ended and let go', async () => {
    const { name } = await makeJob('over');
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
    cluster.put(name, { phase: 'gone' });
    expect(await cleanJobs({ db: database.db, cluster, clock: () => new Date() })).toMatchObject({ problems: [] });
    expect(cluster.done).toEqual([`end ${name}`, `release ${name}`, `end ${name}`, `release ${name}`]);
  });

  test('leaves a pod alone whose Job is gone while its session goes on: who follows it ends it', async () => {
    const { name } = await makeJob();
    cluster.put(name, { phase: 'gone' });
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(cluster.done).toEqual([]);
  });

  test('leaves a Job alone that somebody else has made under the name of one that is over', async () => {
    const { name, sessionId } = await makeJob('over');
    cluster.put(name, { sessionId: 'of-another' });
    const ended: unknown[] = [];
    cluster.end = async (job, _, of) => {
      ended.push([job, of]);
      return { view: { ...(await cluster.view('none')), name: job }, unverified: null };
    };
    // What there may be of its own, and nothing else.
    expect(await cleanJobs({ db: database.db, cluster, clock: () => new Date() })).toEqual({ ended: [], problems: [] });
    expect(await cleanJobs({ db: database.db, cluster, clock: () => new Date() })).toEqual({ ended: [], problems: [] });
    expect(ended).toEqual([[name, sessionId]]);
  });

  test('goes on with what could not be verified until it is', async () => {
    const { name, sessionId } = await makeJob('over');
    cluster.unverified = 'node not ready';
    const { problems } = await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(problems).toEqual([`Job ${name}: not verified: node not ready`]);
    cluster.unverified = null;
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(await cluster.list()).toEqual([]);
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({ released_at: expect.any(Date) });
  });

  test('stores how a Job ended that nobody followed to its end, before Kubernetes may forget it', async () => {
    const { name, sessionId } = await makeJob('over');
    const token = await issueJobToken(database.db, sessionId, new Date());
    const run = await openRunOf(sessionId);
    cluster.put(name, { phase: 'failed', containers: [ansible(3)] });
    expect(await cleanJobs({ db: database.db, cluster, clock: () => new Date() })).toEqual({ ended: [], problems: [] });
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({
      exit_codes: { ansible: 3 },
      end_code: 'layer_failed',
      end_message: 'container ansible ended with exit status 3',
      ended_at: expect.any(Date),
      released_at: expect.any(Date),
    });
    expect((await findRun(database.db, run))?.state).toBe('lost');
    const later = { spoolSeconds: 60, now: new Date(Date.now() + 61_000) };
    expect(await sessionOfJobToken(database.db, token, later)).toBeNull();
    expect(cluster.done).toEqual([`release ${name}`]);
  });

  test('stores the end of one whose finalizers went without it, once', async () => {
    const { name, sessionId } = await makeJob('over');
    await database.db.updateTable('session_jobs').set({ released_at: new Date() }).where('name', '=', name).execute();
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({ exit_codes: { ansible: 0 }, end_code: null });
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(cluster.done).toEqual([`release ${name}`]);
  });

  test('closes the runs of a Job whose stored end is all that was left to do', async () => {
    const { name, sessionId } = await makeJob('over');
    const run = await openRunOf(sessionId);
    const end = { ended_at: new Date(), end_code: 'job_deleted', end_message: 'its Job was deleted' } as const;
    await database.db.updateTable('session_jobs').set(end).where('name', '=', name).execute();
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect((await findRun(database.db, run))?.state).toBe('lost');
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({ ...end, released_at: expect.any(Date) });
  });

  test('of a Job that is gone, stores its end with the exit codes that were seen', async () => {
    const { name, sessionId } = await makeJob('over');
    const token = await issueJobToken(database.db, sessionId, new Date());
    const run = await openRunOf(sessionId);
    await saveExitCodes(
      database.db,
      sessionId,
      exitCodesOf({ ...(await cluster.view(name)), containers: [ansible(0)] }),
    );
    cluster = fakeCluster();
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({
      exit_codes: { ansible: 0 },
      end_code: 'workflow_ended',
      ended_at: expect.any(Date),
      released_at: expect.any(Date),
    });
    expect((await findRun(database.db, run))?.state).toBe('lost');
    const later = { spoolSeconds: 60, now: new Date(Date.now() + 61_000) };
    expect(await sessionOfJobToken(database.db, token, later)).toBeNull();
  });

  test.each(['deleting', 'complete'] as const)(
    'of one whose end was not verified, stores the exit codes that its node tells at last: %s',
    async (phase) => {
      const { name, sessionId } = await makeJob('over');
      const end = { ended_at: new Date(), end_code: 'cancelled', end_message: 'its Job was ended' } as const;
      const exit_codes = JSON.stringify({ inventory: 0, ansible: null });
      await database.db
        .updateTable('session_jobs')
        .set({ ...end, exit_codes, unverified: 'node not ready' })
        .where('name', '=', name)
        .execute();
      cluster.put(name, { phase, containers: [{ ...ansible(null), name: 'inventory' }, ansible(137)] });
      await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
      expect(await findSessionJob(database.db, sessionId)).toMatchObject({
        ...end,
        exit_codes: { inventory: 0, ansible: 137 },
        unverified: null,
        released_at: expect.any(Date),
      });
    },
  );

  test('of a Job that was never made, says nothing', async () => {
    const { sessionId } = await makeJob('over');
    cluster = fakeCluster();
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({
      end_code: null,
      ended_at: null,
      released_at: expect.any(Date),
    });
  });

  test('ends a few at once, and for a bounded time; each gets its turn, what is new its turn first', async () => {
    const names = new Set<string>();
    for (let made = 0; made < 20; made += 1) names.add((await makeJob('over')).name);
    cluster.unverified = 'node not ready';
    let now = 0;
    let most = 0;
    const { end } = cluster;
    // The time of a clean-up is over as soon as one Job has ended.
    let time = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => time);
    cluster.end = async (name, patience) => {
      now += 1;
      most = Math.max(most, now);
      await delay(100);
      now -= 1;
      time += 50;
      return await end(name, patience);
    };
    const sweep = () => cleanJobs({ db: database.db, cluster, clock: () => new Date() }, 50);
    expect((await sweep()).problems).toContain('12 Jobs are left to the next clean-up');
    expect(cluster.done).toHaveLength(8);
    await sweep();
    await sweep();
    // Twice eight that were never tried, then the last four with four of the others.
    expect(new Set(cluster.done)).toEqual(new Set([...names].map((name) => `end ${name}`)));
    expect(most).toBe(8);
    const { name } = await makeJob('over');
    await sweep();
    expect(cluster.done).toContain(`end ${name}`);
    clock.mockRestore();
    cluster.unverified = null;
    cluster.end = end;
    await cleanJobs({ db: database.db, cluster, clock: () => new Date() });
    expect(await cluster.list()).toEqual([]);
  });
});
