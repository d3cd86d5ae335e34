import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { timeLeft } from '../../../activities/sessions/cluster/job-patience.ts';
import { type WatchDependencies, watchJob } from '../../../activities/sessions/cluster/watch-job.ts';
import { finishJob } from '../../../control/sessions/cluster/record-job.ts';
import type { ContainerState, JobTrouble, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { ensureRun, findRun } from '../../../store/runs/runs.ts';
import { findSessionJob } from '../../../store/sessions/session-jobs.ts';
import { findSessionById } from '../../../store/sessions/sessions.ts';
import { eventually } from '../../support/eventually.ts';
import { type FakeCluster, fakeCluster } from '../../support/kubernetes/fake-cluster.ts';
import { ansible, recordedJob } from '../../support/kubernetes/recorded-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { watchDependencies } from '../../support/postgres/watch-dependencies.ts';

let database: TestDatabase;
let cluster: FakeCluster;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database?.close());
beforeEach(() => {
  cluster = fakeCluster();
});

const trouble = (kind: JobTrouble['kind'], message: string): JobTrouble => ({ code: 'unschedulable', kind, message });

const makeJob = () => recordedJob(database.db, cluster);

const deps = (patience?: WatchDependencies['patience']) => watchDependencies(database.db, cluster, patience);

const watch = (sessionId: string, given = deps()) =>
  new MockActivityEnvironment().run(() => watchJob(given, sessionId, new AbortController().signal));

describe('following a Job', () => {
  test('stores how it ended, then lets Kubernetes forget it', async () => {
    const { sessionId, name } = await makeJob();
    const watched = watch(sessionId);
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    expect(await watched).toEqual({ succeeded: 'true', reason: null, message: 'complete' });
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({
      exit_codes: { ansible: 0 },
      ended_at: expect.any(Date),
      released_at: expect.any(Date),
    });
    expect(cluster.done).toEqual([`release ${name}`]);
    // A second one, of a worker that took over, says the same and does nothing.
    expect(await watch(sessionId)).toMatchObject({ succeeded: 'true' });
    expect(cluster.done).toEqual([`release ${name}`]);
  });

  test('whoever takes over finishes what a crash has left after the end was stored', async () => {
    const { sessionId, name } = await makeJob();
    const id = `${sessionId}-1-0`;
    await ensureRun(
      database.db,
      { id, sessionId, streamId: sessionId, layer: 0, attempt: 1, host: 'kubernetes' },
      new Date(),
    );
    const end = { ended_at: new Date(), end_code: 'job_deleted', end_message: 'its Job was deleted' } as const;
    await database.db.updateTable('session_jobs').set(end).where('name', '=', name).execute();
    expect(await watch(sessionId)).toMatchObject({ reason: 'job_deleted' });
    expect((await findRun(database.db, id))?.state).toBe('lost');
    expect(cluster.done).toEqual([`release ${name}`]);
  });

  test('a deletion by whomever ends its pods, and its open run with it', async () => {
    const { sessionId, name } = await makeJob();
    const id = `${sessionId}-1-0`;
    await ensureRun(
      database.db,
      { id, sessionId, streamId: sessionId, layer: 0, attempt: 1, host: 'kubernetes' },
      new Date(),
    );
    const watched = watch(sessionId);
    cluster.put(name, { phase: 'deleting', containers: [ansible(143)] });
    expect(await watched).toMatchObject({ succeeded: 'false', reason: 'job_deleted' });
    expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
    expect((await findRun(database.db, id))?.state).toBe('lost');
  });

  test('one that is gone may have left pods that go on: they are ended too', async () => {
    const { sessionId, name } = await makeJob();
    const watched = watch(sessionId);
    cluster.put(name, { phase: 'gone' });
    expect(await watched).toMatchObject({ succeeded: 'unknown', reason: 'job_lost' });
    expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
  });

  test('one that is gone has succeeded if all that its pod left says so', async () => {
    const { sessionId, name } = await makeJob();
    const { end } = cluster;
    cluster.end = async (job, patience) => {
      cluster.put(job, { containers: [ansible(0)] });
      const { view, unverified } = await end(job, patience);
      return { view: { ...view, phase: 'gone' }, unverified };
    };
    const watched = watch(sessionId);
    cluster.put(name, { phase: 'gone' });
    expect(await watched).toMatchObject({ succeeded: 'true' });
    expect((await findSessionJob(database.db, sessionId))?.exit_codes).toEqual({ ansible: 0 });
  });

  test('what cannot be verified keeps its finalizers, and the end says so', async () => {
    const { sessionId, name } = await makeJob();
    cluster.unverified = 'node not ready';
    const watched = watch(sessionId);
    cluster.put(name, { phase: 'deleting' });
    expect(await watched).toMatchObject({ message: 'its Job was deleted; not verified: node not ready' });
    expect(cluster.done).toEqual([`end ${name}`]);
  });

  test('what keeps its pod from running is shown, and taken back', async () => {
    const { sessionId, name } = await makeJob();
    cluster.put(name, { phase: 'waiting', trouble: trouble('waiting', 'no node has 4 GiB free') });
    const watched = watch(sessionId);
    const shown = (text: string) =>
      eventually(text, async () => (await findSessionById(database.db, sessionId))?.message === text);
    await shown('no node has 4 GiB free');
    expect(await findSessionById(database.db, sessionId)).toMatchObject({ reason: 'unschedulable' });
    cluster.put(name, { phase: 'running', trouble: null });
    await shown('the Job goes on');
    cluster.put(name, { phase: 'complete' });
    await watched;
  });

  test.each([
    ['waiting', { waiting: 50, impossible: 60_000 }],
    ['impossible', { waiting: 60_000, impossible: 50 }],
  ] as const)('a pod that waits too long for what is %s is given up', async (kind, patience) => {
    const { sessionId, name } = await makeJob();
    cluster.put(name, { phase: 'waiting', trouble: trouble(kind, 'no node fits') });
    expect(await watch(sessionId, deps(patience))).toEqual({
      succeeded: 'false',
      reason: 'unschedulable',
      message: 'its pod waited too long: no node fits',
    });
    expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
  });

  test('a runner that waits in vain for its inventory is ended', async () => {
    const { sessionId, name } = await makeJob();
    const inventory = { ...ansible(137), name: 'inventory', reason: 'OOMKilled' };
    cluster.put(name, { phase: 'running', containers: [inventory, ansible(null)] });
    expect(await watch(sessionId)).toEqual({
      succeeded: 'false',
      reason: 'runner_failed',
      message: 'container inventory ended with exit status 137 (OOMKilled)',
    });
    expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
  });

  test('what became impossible after a long wait has all its time', async () => {
    const { sessionId, name } = await makeJob();
    const began = new Date(Date.now() - 300_000);
    await database.db.updateTable('session_jobs').set({ waiting_since: began }).where('name', '=', name).execute();
    cluster.put(name, {
      phase: 'waiting',
      trouble: { ...trouble('impossible', 'a pull failed'), code: 'image_pull_failed' },
    });
    const watched = watch(sessionId, deps({ waiting: 1_800_000, impossible: 120_000 }));
    await eventually(
      'it is shown',
      async () => (await findSessionById(database.db, sessionId))?.message === 'a pull failed',
    );
    cluster.put(name, { phase: 'complete', trouble: null, containers: [ansible(0)] });
    expect(await watched).toMatchObject({ succeeded: 'true' });
  });

  test('a Job whose pod is deleted on a node that is away is given up', async () => {
    const { sessionId, name } = await makeJob();
    const clock = { now: Date.now() };
    cluster.unverified = 'node not ready';
    const message = 'pod p was deleted, its node is not ready';
    const deleted: Partial<JobView> = { phase: 'running', trouble: { code: 'pod_deleted', kind: 'over', message } };
    cluster.put(name, deleted);
    const watched = watch(sessionId, { ...deps(), clock: () => new Date(clock.now) });
    await eventually('it is shown', async () => (await findSessionById(database.db, sessionId))?.message === message);
    expect(cluster.done).toEqual([]);
    clock.now += 15_000;
    cluster.put(name, { ...deleted, containers: [ansible(null)] });
    expect(await watched).toEqual({
      succeeded: 'false',
      reason: 'pod_deleted',
      message: `${message}; not verified: node not ready`,
    });
    expect(cluster.done).toEqual([`end ${name}`]);
  });

  test('a container that can never begin is not waited for because others have begun', async () => {
    const { sessionId, name } = await makeJob();
    const missing: JobTrouble = { code: 'image_pull_failed', kind: 'impossible', message: 'no such image' };
    cluster.put(name, { phase: 'running', containers: [{ ...ansible(0), name: 'git-clone' }], trouble: missing });
    expect(await watch(sessionId, deps({ waiting: 60_000, impossible: 50 }))).toMatchObject({
      succeeded: 'false',
      reason: 'image_pull_failed',
      message: 'its pod waited too long: no such image',
    });
    expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
  });

  describe('a pod that has cloned and does not reach Muster', () => {
    const cloned: ContainerState[] = [{ ...ansible(0), name: 'git-clone' }, ansible(null)];
    const said =
      'its pod does not reach Muster at http://muster-ingest.test:8101, or Muster does not take it: its log says why';
    const clockAt = (clock: { now: number }) => ({ ...deps(), clock: () => new Date(clock.now) });

    test.each(['restricted', 'compatible'] as const)(
      'is told of after a minute, then given up: %s',
      async (profile) => {
        const { sessionId, name } = await makeJob();
        await database.db.updateTable('session_jobs').set({ profile }).where('name', '=', name).execute();
        const clock = { now: Date.now() };
        const given = { ...clockAt(clock), patience: { waiting: 1_800_000, impossible: 60_000 } };
        cluster.put(name, { containers: cloned });
        const watched = watch(sessionId, given);
        await eventually('it is noted', async () => (await findSessionJob(database.db, sessionId))?.waiting_since);
        expect((await findSessionById(database.db, sessionId))?.message).not.toBe(said);
        clock.now += 60_000;
        cluster.put(name, { message: 'a change' });
        await eventually(
          'it is said',
          async () => (await findSessionById(database.db, sessionId))?.reason === 'pod_silent',
        );
        expect((await findSessionById(database.db, sessionId))?.message).toBe(said);
        clock.now += 1_740_000;
        cluster.put(name, { message: 'another' });
        expect(await watched).toEqual({
          succeeded: 'false',
          reason: 'pod_silent',
          message: `its pod waited too long: ${said}`,
        });
        expect(cluster.done).toEqual([`end ${name}`, `release ${name}`]);
      },
    );

    test('goes on as soon as it does, though the cluster tells nothing new', async () => {
      const { sessionId, name } = await makeJob();
      const clock = { now: Date.now() };
      cluster.put(name, { containers: cloned });
      const watched = watch(sessionId, clockAt(clock));
      await eventually('it is noted', async () => (await findSessionJob(database.db, sessionId))?.waiting_since);
      // So little is left that the Job is looked at again soon, of a time that stands still.
      clock.now += 59_500;
      cluster.put(name, { message: 'a change' });
      const session = () => findSessionById(database.db, sessionId);
      await eventually('it is said', async () => (await session())?.reason === 'pod_silent');
      const steps = JSON.stringify({ inventory: { state: 'started' } });
      await database.db.updateTable('session_jobs').set({ steps }).where('name', '=', name).execute();
      const job = () => findSessionJob(database.db, sessionId);
      await eventually('it waits no more', async () => (await job())?.waiting_since === null);
      cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
      expect(await watched).toMatchObject({ succeeded: 'true' });
    });

    test('may take its time for the repositories; in profile compatible its inventory tells that it does', async () => {
      const { sessionId, name } = await makeJob();
      const left = async (containers: ContainerState[], profile: 'restricted' | 'compatible') => {
        const job = await findSessionJob(database.db, sessionId);
        if (job === null) throw new Error('no Job');
        cluster.put(name, { containers });
        return await timeLeft(deps(), { ...job, profile }, await cluster.view(name), { hopeless: null });
      };
      const inventory = { ...ansible(0), name: 'inventory' };
      expect(await left([{ ...ansible(null), name: 'git-clone' }], 'restricted')).toBeNull();
      expect(await left(cloned, 'restricted')).toBe(60_000);
      expect(await left([...cloned, inventory], 'restricted')).toBeGreaterThan(0);
      expect(await left(cloned, 'compatible')).toBeGreaterThan(0);
      // Its only report may be lost.
      expect(await left([...cloned, inventory], 'compatible')).toBeNull();
      const steps = JSON.stringify({ inventory: { state: 'started' } });
      await database.db.updateTable('session_jobs').set({ steps }).where('name', '=', name).execute();
      expect(await left(cloned, 'compatible')).toBeNull();
    });
  });

  test('layers that lost their container are given up, unless their work was over', async () => {
    const { sessionId, name } = await makeJob();
    const left = async (containers: ContainerState[], profile: 'restricted' | 'compatible' = 'restricted') => {
      const job = await findSessionJob(database.db, sessionId);
      if (job === null) throw new Error('no Job');
      cluster.put(name, { containers });
      return await timeLeft(deps(), { ...job, profile }, await cluster.view(name), { hopeless: null });
    };
    const waitingFor = (exitCode: number | null) => [ansible(exitCode), { ...ansible(null), name: 'teardown' }];
    expect(await left(waitingFor(null))).toBeNull();
    expect(await left(waitingFor(137))).toBe(15_000);
    expect(await left(waitingFor(137), 'compatible')).toBeNull();
    await finishJob(database.db, sessionId, 1);
    expect(await left(waitingFor(1))).toBeNull();
  });

  test('that the cluster was away is no longer said when it is back', async () => {
    const { sessionId, name } = await makeJob();
    const message = 'following the Job failed, trying again: no answer within 8 s';
    await database.db
      .updateTable('sessions')
      .set({ message, reason: 'cluster_unavailable' })
      .where('id', '=', sessionId)
      .execute();
    const watched = watch(sessionId);
    await eventually('it is taken back', async () => {
      const session = await findSessionById(database.db, sessionId);
      return session?.message === 'the Job goes on' && session.reason === null;
    });
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    expect(await watched).toMatchObject({ succeeded: 'true' });
  });

  test('what can never be counts from when it was first seen, whichever worker saw it', async () => {
    const { sessionId, name } = await makeJob();
    const clock = { now: Date.now() };
    const given = { ...deps({ waiting: 1_800_000, impossible: 120_000 }), clock: () => new Date(clock.now) };
    const view = async (more: Partial<JobView>) => {
      cluster.put(name, { phase: 'waiting', ...more });
      const job = await findSessionJob(database.db, sessionId);
      if (job === null) throw new Error('no Job');
      return await timeLeft(given, job, await cluster.view(name), { hopeless: null });
    };
    const never = trouble('impossible', 'no node fits');
    expect(await view({ trouble: never })).toBe(120_000);
    clock.now += 100_000;
    // Each is another process that has seen nothing before; between two pulls of an image nothing is wrong for a moment.
    expect(await view({ trouble: null })).toBe(1_700_000);
    expect(await view({ trouble: never })).toBe(20_000);
    expect(await view({ trouble: trouble('waiting', 'full') })).toBe(1_700_000);
    expect(await view({ trouble: never })).toBe(120_000);
    expect(await view({ phase: 'running', trouble: null })).toBeNull();
    expect(await view({ trouble: never })).toBe(120_000);
  });

  test('a wait counts from its first moment, whichever worker saw it', async () => {
    const { sessionId, name } = await makeJob();
    const began = new Date(Date.now() - 3_600_000);
    await database.db.updateTable('session_jobs').set({ waiting_since: began }).where('name', '=', name).execute();
    cluster.put(name, { phase: 'waiting', trouble: trouble('waiting', 'full') });
    expect(await watch(sessionId)).toMatchObject({ reason: 'unschedulable' });
  });
});

describe('the log of a runner that hands in nothing by itself', () => {
  test('is stored whatever bytes it has, and read on behind the last one', async () => {
    const { sessionId, name } = await makeJob();
    await database.db.updateTable('session_jobs').set({ profile: 'compatible' }).where('name', '=', name).execute();
    const log = Buffer.from('a\u0000\xff\xfe\nb\n', 'latin1');
    const begun: number[] = [];
    cluster.followLog = async (_name, _container, { from }, take) => {
      begun.push(from);
      for (let start = from; start < log.length; ) {
        const end = log.indexOf('\n', start) + 1;
        await take({ start, end, text: log.subarray(start, end).toString('utf8') });
        start = end;
      }
    };
    const stop = new AbortController();
    const first = new MockActivityEnvironment().run(() => watchJob(deps(), sessionId, stop.signal));
    first.catch(() => undefined);
    const runId = `${sessionId}-1-0`;
    await eventually('the log is stored', async () => {
      const run = await findRun(database.db, runId);
      return run?.cursor.outputBytes === log.length;
    });
    stop.abort();
    await expect(first).rejects.toThrow();
    const second = watch(sessionId);
    await eventually('it is read on', () => begun.length === 2);
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    await second;
    expect(begun).toEqual([0, log.length]);
    const parts = await database.db
      .selectFrom('output')
      .select('text')
      .where('run_id', '=', runId)
      .orderBy('start')
      .execute();
    expect(parts.map(({ text }) => text)).toEqual(['a\ufffd\ufffd\ufffd\n', 'b\n']);
  });

  const warningsOf = async (sessionId: string) => {
    const events = database.db.selectFrom('events').select('data').where('stream_id', '=', sessionId);
    return (await events.where('type', '=', 'warning').execute()).map(
      ({ data }) => (data as { message: string }).message,
    );
  };
  const compatible = async () => {
    const made = await makeJob();
    await database.db
      .updateTable('session_jobs')
      .set({ profile: 'compatible' })
      .where('name', '=', made.name)
      .execute();
    return made;
  };

  test.each([
    ['in the middle of a part', ['one\n', 'two\nthree\n', 'four\n'], 10, 'one\ntwo\n'],
    ['between two parts', ['one\n', 'two\n', 'three\n'], 8, 'one\ntwo\n'],
    ['in a line', ['\u00fcber alle Ma\u00dfen lang'], 9, '\u00fcber all'],
  ])('is stored up to its limit, %s, and says so once, whoever goes on', async (_where, parts, logMaxBytes, head) => {
    const { sessionId, name } = await compatible();
    let reads = 0;
    cluster.followLog = async (_name, _container, { from }, take, until) => {
      reads += 1;
      let start = 0;
      for (const text of parts) {
        const end = start + Buffer.byteLength(text);
        if (start >= from && !until.aborted) await take({ start, end, text });
        start = end;
      }
    };
    const note = `\n[muster] all output from here on was left out: the log of a run is kept up to ${logMaxBytes} bytes (MUSTER_LOG_MAX)\n`;
    const stored = async () => {
      const rows = database.db.selectFrom('output').select('text').where('run_id', '=', `${sessionId}-1-0`);
      return (await rows.orderBy('start').execute()).map(({ text }) => text).join('');
    };
    const stop = new AbortController();
    const given = { ...deps(), logMaxBytes };
    const first = new MockActivityEnvironment().run(() => watchJob(given, sessionId, stop.signal));
    first.catch(() => undefined);
    await eventually('it is stored', async () => (await stored()) === `${head}${note}`);
    stop.abort();
    await expect(first).rejects.toThrow();
    const second = watch(sessionId, given);
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    await second;
    expect(reads).toBe(1);
    expect(await stored()).toBe(`${head}${note}`);
    expect(await warningsOf(sessionId)).toEqual([
      `the log of the Job is not complete: it is kept up to ${logMaxBytes} bytes (MUSTER_LOG_MAX)`,
    ]);
  });

  test('waits for the secrets that are to be hidden in it', async () => {
    const { sessionId, name } = await compatible();
    let asked = 0;
    const given = deps();
    given.site = {
      ...given.site,
      vaultPassword: async () => {
        asked += 1;
        if (asked === 1) throw new Error('the store of secrets is away');
        return 'hide-me';
      },
    };
    const hidden: (readonly string[])[] = [];
    cluster.followLog = async (_name, _container, { secrets }) => void hidden.push(secrets);
    const watched = watch(sessionId, given);
    await eventually('the log is read', () => hidden.length > 0);
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    await watched;
    expect(hidden).toEqual([['hide-me', 'k', 'k']]);
    expect(await warningsOf(sessionId)).toEqual([]);
  });

  test('is read on by the next worker where one is stopped before its end', async () => {
    const { sessionId, name } = await compatible();
    const begun = Promise.withResolvers<void>();
    const { follow } = cluster;
    const followed: string[] = [];
    cluster.follow = async (job, take, signal) => {
      await follow(job, take, signal);
      followed.push(job);
    };
    cluster.followLog = (_name, _container, _reading, _take, signal) =>
      new Promise((resolve) => {
        begun.resolve();
        signal.addEventListener('abort', () => resolve());
      });
    const stop = new AbortController();
    const first = new MockActivityEnvironment().run(() => watchJob(deps(), sessionId, stop.signal));
    first.catch(() => undefined);
    await begun.promise;
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    await eventually('it waits for the rest', () => followed.includes(name));
    stop.abort(new Error('the worker stops'));
    await expect(first).rejects.toThrow('the worker stops');
    expect(await findSessionJob(database.db, sessionId)).toMatchObject({ ended_at: null });
    cluster.followLog = async (_name, _container, { from }, take) => {
      await take({ start: from, end: from + 4, text: 'end\n' });
    };
    expect(await watch(sessionId)).toMatchObject({ succeeded: 'true' });
    const stored = database.db.selectFrom('output').select('text').where('run_id', '=', `${sessionId}-1-0`);
    expect([await stored.execute(), await warningsOf(sessionId)]).toEqual([[{ text: 'end\n' }], []]);
  });

  test('that does not come to its end is told of', async () => {
    const { sessionId, name } = await compatible();
    cluster.followLog = (_name, _container, _reading, _take, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    const watched = new MockActivityEnvironment().run(() =>
      watchJob(deps(), sessionId, new AbortController().signal, 50),
    );
    cluster.put(name, { phase: 'complete', containers: [ansible(0)] });
    expect(await watched).toMatchObject({ succeeded: 'true' });
    expect(await warningsOf(sessionId)).toEqual([
      "the log of the Job is not complete: its end was not there 0.05 s after the Job's",
    ]);
  });
});
