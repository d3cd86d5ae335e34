/** What keeps the work of AppContexts from doing too much: pauses, places, calls that may still arrive; and that the sweep leaves none out. */
import { describe, expect, jest, test } from '@jest/globals';
import { sql } from 'kysely';
import { createContextSweep } from '../../control/deployments/tell-context.ts';
import { contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { musterError } from '../../domain/errors.ts';
import { contextBenchOfBlock } from './context-bench.ts';
import { AWAY, refusal } from './fake-member.ts';
import { SECRET_MANIFEST } from './placement-fixtures.ts';

const SERVICE = '/api/v1/namespaces/default/services/agent';
const CONFIG = '/api/v1/namespaces/default/configmaps/cfg';
const bench = contextBenchOfBlock('f');
const { later, post, instantiated, round, status, reasons } = bench;

describe('while everything is stopped', () => {
  test('a phase at work goes on, no new one begins, and what waits begins after go', async () => {
    const atWork = await instantiated();
    bench.member.fault = (call, path) => (call === 'apply' && path === SERVICE ? AWAY : undefined);
    await round(atWork);
    bench.member.fault = () => undefined;
    expect((await post('/api/v1/stop', { reason: 'the cooling fails' })).counts).toMatchObject({ deployments: 0 });
    later(2);
    await round(atWork);
    expect(await status(atWork)).toEqual({ status: 'Instantiated', Applied: 2 });

    const terminated = await bench.api.call('POST', `${atWork.group}/terminate`);
    expect([terminated.status, String(terminated.headers.warning)]).toEqual([
      202,
      expect.stringContaining('muster go'),
    ]);
    const waiting = await instantiated();
    const sent = bench.member.calls.length;
    expect([await round(atWork), await round(waiting)]).toEqual([[], []]);
    expect(await status(atWork)).toEqual({ status: 'Terminating', Pending: 2 });
    expect(await status(waiting)).toEqual({ status: 'Instantiating', Pending: 2 });
    expect(bench.member.calls).toHaveLength(sent);

    expect((await post('/api/v1/stop', { reason: 'still' })).counts).toMatchObject({ deployments: 2 });
    expect((await post('/api/v1/go')).counts).toMatchObject({ deployments: 2 });
    await round(waiting);
    expect(await status(waiting)).toMatchObject({ status: 'Instantiated' });
  });

  test('a phase that has not begun can be given up', async () => {
    await post('/api/v1/stop', { reason: 'the cooling fails' });
    const run = await instantiated();
    expect(await round(run)).toEqual([]);
    const told: string[] = [];
    const sweep = createContextSweep({
      db: bench.api.database.db,
      tell: async (wanted) => void told.push(...wanted.map(({ workflowId }) => workflowId)),
      clock: bench.deps.clock,
    });
    later(60);
    await sweep(new AbortController().signal);
    expect(told).not.toContain(contextWorkflowId(run.id));
    await post(`${run.group}/stop`);
    later(60);
    await sweep(new AbortController().signal);
    expect(told).toContain(contextWorkflowId(run.id));
    await round(run);
    expect(await status(run)).toEqual({ status: 'InstantiateFailed', Failed: 2 });
    expect(bench.member.calls).toEqual([]);
    await post('/api/v1/go');
  });
});

describe('the sweep', () => {
  test('goes on where the former one ended, so that none is left out', async () => {
    const run = await instantiated();
    const { db } = bench.api.database;
    await sql`insert into deployment_contexts
      (id, owner, cloud, state, wanted, namespace, settings, created_at, wanted_at, changed_at)
      select 'many-' || lpad(n::text, 4, '0'), owner, cloud, state, wanted, namespace, settings, created_at, wanted_at, changed_at
      from deployment_contexts, generate_series(1, 250) n where id = ${run.id}`.execute(db);
    later(60);
    const told: string[] = [];
    const sweep = createContextSweep({
      db,
      tell: async (wanted) => void told.push(...wanted.map(({ workflowId }) => workflowId)),
      clock: bench.deps.clock,
    });
    // Each look at the clock costs the time of a whole sweep.
    let time = 0;
    const now = jest.spyOn(performance, 'now').mockImplementation(() => {
      time += 21_000;
      return time;
    });
    const signal = new AbortController().signal;
    const many = Array.from({ length: 250 }, (_, n) => contextWorkflowId(`many-${String(n + 1).padStart(4, '0')}`));
    for (let sweeps = 0; sweeps < 4; sweeps += 1) await sweep(signal);
    now.mockRestore();
    expect(told).toEqual(expect.arrayContaining([contextWorkflowId(run.id), ...many]));
    // One after the other, and from the beginning again only when all were told of.
    const first = told.slice(0, new Set(told).size);
    expect(new Set(first).size).toBe(first.length);
    await db.deleteFrom('deployment_contexts').where('id', 'like', 'many-%').execute();
  });
});

describe('an apply that may still arrive', () => {
  test('of a worker that Temporal has given up is waited for before anything is deleted', async () => {
    const run = await instantiated();
    const arrive = Promise.withResolvers<void>();
    const isSent = Promise.withResolvers<void>();
    const open = bench.member.openMember;
    let calls = 0;
    bench.member.openMember = (credential) => ({
      ...open(credential),
      apply: async (path, manifest) => {
        calls += 1;
        if (calls === 1) {
          isSent.resolve();
          await arrive.promise;
        }
        return await open(credential).apply(path, manifest);
      },
    });
    const lost = round(run);
    await isSent.promise;
    later(15);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
    await post(`${run.group}/terminate`);
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'Waiting', waitMs: 20_000, counts: false }]);
    arrive.resolve();
    await lost;
    later(20);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    expect(bench.member.objects.size).toBe(0);
  });

  test('holds nothing up once it was answered, also when the deletion was wanted meanwhile', async () => {
    const run = await instantiated();
    const open = bench.member.openMember;
    bench.member.openMember = (credential) => ({
      ...open(credential),
      apply: async (path, manifest) => {
        const answer = await open(credential).apply(path, manifest);
        await post(`${run.group}/terminate`);
        return answer;
      },
    });
    await round(run);
    expect((await status(run)).status).toBe('PreTerminate');
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 2 });
    expect(bench.member.objects.size).toBe(0);
  });

  test.each([
    [503, []],
    [429, []],
    [504, ['Waiting']],
    [502, ['Waiting']],
  ])('may be carried out behind an answer %d or not', async (httpStatus, expected) => {
    const run = await instantiated();
    bench.member.fault = (call, path) =>
      call === 'apply' && path === CONFIG ? refusal(httpStatus, 'Timeout') : undefined;
    await round(run);
    bench.member.fault = () => undefined;
    await post(`${run.group}/terminate`);
    const answers = await round(run);
    expect(answers.flatMap((answer) => (answer.is === 'away' ? [answer.reason] : []))).toEqual(expected);
  });
});

describe('a Secret whose values cannot be read', () => {
  test('is Retrying with the reason; nothing was sent of it, and it goes on when the key is back', async () => {
    const run = await instantiated({ apps: { keys: SECRET_MANIFEST } });
    const { manifestSeal } = bench.deps;
    const open = () => Promise.reject(musterError('secret_unreadable', 'The Secret cannot be read with the key'));
    bench.deps = { ...bench.deps, manifestSeal: { ...manifestSeal, open } };
    expect(await round(run)).toMatchObject([{ is: 'away', reason: 'SecretUnreadable', counts: true }]);
    expect(await reasons(run)).toEqual({ 'keys+Secret': 'Retrying SecretUnreadable' });
    expect(bench.member.calls.filter((call) => call.startsWith('apply'))).toEqual([]);
    bench.deps = { ...bench.deps, manifestSeal };
    later(2);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 1 });
  });

  test('leaves nothing to be deleted', async () => {
    const run = await instantiated({ apps: { keys: SECRET_MANIFEST } });
    const open = () => Promise.reject(musterError('secret_unreadable', 'The Secret cannot be read with the key'));
    bench.deps = { ...bench.deps, manifestSeal: { ...bench.deps.manifestSeal, open } };
    await round(run);
    await post(`${run.group}/terminate`);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 1 });
  });
});

describe('a cluster without a place', () => {
  test.each(['apply', 'delete'])('is asked whether it is back, and gets nothing (%s)', async (phase) => {
    const run = await instantiated();
    if (phase === 'delete') {
      await round(run);
      await post(`${run.group}/terminate`);
    }
    const sent = bench.member.calls.length;
    bench.member.fault = () => AWAY;
    expect(await round(run, { hasPlace: false })).toMatchObject([{ is: 'away', reason: 'Unreachable', counts: true }]);
    bench.member.fault = () => undefined;
    later(2);
    expect(await round(run, { hasPlace: false })).toMatchObject([{ is: 'away', isBack: true, counts: false }]);
    expect(bench.member.calls).toHaveLength(sent);
    expect(await round(run)).toEqual([{ is: 'ended' }]);
  });
});
