/** The steps of a plan's driver: each may be made any number of times, and be lost. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { getNode } from '../../../control/propagation/read-plan.ts';
import { simulatePlan } from '../../../control/propagation/simulate-plan.ts';
import { openPlans, type PlanBench } from './plan-bench.ts';

let plans: PlanBench;
beforeEach(async () => {
  plans = await openPlans();
});
afterEach(() => plans.close());

/** A plan that is open, of resources that have these events. */
async function opened(names: readonly string[], events: string, from = 'worked'): Promise<string> {
  await plans.work(names, from);
  if (events !== '') await plans.addEvents(events);
  const { id } = await plans.process();
  await plans.start(id);
  return id;
}

describe('a plan of data alone', () => {
  test('comes to its end in one step, is committed, and leaves nothing staged', async () => {
    await plans.create('a', 'b');
    await plans.connect('a', 'b', ['v'], 'dependency');
    const { id, state } = await plans.process();
    expect(state).toBe('built');
    await plans.start(id);
    expect(plans.told).toEqual([`plan/${id} pokePlan`]);
    expect(await plans.advance(id)).toMatchObject({ isOver: true, attempts: [] });
    expect(await plans.plan(id)).toMatchObject({
      state: 'succeeded',
      counts: { success: 2, pending: 0 },
      run_number: 1,
    });
    const outcomes = (await plans.nodes(id)).map((node) => [node.id, node.outcome, node.attempts]);
    expect(outcomes).toEqual([
      ['a.run', 'created', 0],
      ['b.run', 'created', 0],
    ]);
    expect(await plans.staged()).toEqual([]);
    await expect(plans.process()).rejects.toMatchObject({ code: 'nothing_staged' });
    const history = await plans.db.selectFrom('propagation_history').select(['resource', 'plan']).execute();
    expect(history.map(({ resource, plan }) => [resource, plan]).sort()).toEqual([
      ['a', id],
      ['b', id],
    ]);
  });

  test('has no second run without a difference', async () => {
    await plans.create('a');
    await plans.run((await plans.process()).id);
    expect(await plans.staged({ names: ['a'], action: 'run' })).toEqual(['a.run']);
    const { id } = await plans.process();
    await plans.run(id);
    expect((await plans.nodes(id))[0]).toMatchObject({ status: 'success', outcome: 'ok' });
  });

  test('of many nodes is done in slices, each of which is kept', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `n${String(index).padStart(2, '0')}`);
    await plans.create(...names);
    await plans.addEvents(names.slice(1).map((name, index) => `after ${names[index]}.run success ${name}.run`));
    const { id } = await plans.process();
    expect((await plans.run(id)).counts).toMatchObject({ success: 40 });
  });
});

describe('a step', () => {
  test('hands out an attempt until the caller names it as its own, and never a second one', async () => {
    const id = await opened(['a'], '');
    const [first, second] = [await plans.advance(id), await plans.advance(id)];
    expect(first.attempts).toHaveLength(1);
    expect(second.attempts).toEqual(first.attempts);
    const own = first.attempts.map(({ attempt }) => attempt);
    expect(await plans.advance(id, own)).toMatchObject({ attempts: [], isOver: false });
    expect(await plans.attempts(id)).toHaveLength(1);
  });

  test('at once with others decides once', async () => {
    const id = await opened(['a', 'b', 'c'], 'after a.run success b.run\nafter a.run success c.run');
    await Promise.all(Array.from({ length: 5 }, () => plans.advance(id)));
    expect(await plans.running(id)).toEqual(['a.run']);
    const [attempt] = await plans.attempts(id);
    const ends = await Promise.all(Array.from({ length: 3 }, () => plans.end(attempt?.id ?? '')));
    expect(ends.filter((isWritten) => isWritten)).toHaveLength(1);
    await Promise.all(Array.from({ length: 5 }, () => plans.advance(id)));
    expect((await plans.running(id)).sort()).toEqual(['b.run', 'c.run']);
    expect((await plans.attempts(id)).map(({ name, number }) => [name, number]).sort()).toEqual([
      ['a.run', 1],
      ['b.run', 1],
      ['c.run', 1],
    ]);
  });

  test('takes the first end of an attempt, and no later one', async () => {
    const id = await opened(['a'], '');
    const [attempt] = (await plans.advance(id)).attempts;
    expect(await plans.end(attempt?.attempt ?? '', { outcome: 'failed', message: 'no' })).toBe(true);
    expect(await plans.end(attempt?.attempt ?? '')).toBe(false);
    expect((await plans.finish(id)).state).toBe('failed');
    expect((await plans.nodes(id))[0]).toMatchObject({ status: 'error', outcome: 'failed', message: 'no' });
  });

  test('of a plan that is gone or over is over', async () => {
    await plans.create('a');
    const { id } = await plans.process();
    expect(await plans.advance(id)).toMatchObject({ isOver: true });
    expect(await plans.advance('00000000-0000-4000-8000-000000000000')).toMatchObject({ isOver: true });
    expect(await plans.statuses(id)).toEqual({ 'a.run': 'pending' });
  });
});

describe('attempts', () => {
  test('follow one another until the budget is used up; a result of an old one is ignored', async () => {
    const id = await opened(['a'], '', 'retried');
    for (let number = 1; number <= 3; number++) {
      const [open] = (await plans.advance(id)).attempts;
      const attempts = await plans.attempts(id);
      expect(attempts.map((attempt) => attempt.number)).toEqual(Array.from({ length: number }, (_, at) => at + 1));
      const [node] = await plans.nodes(id);
      expect(node).toMatchObject({ status: 'in_progress', end_time: null, attempt: open?.attempt });
      for (const { id: old } of attempts.slice(0, -1)) expect(await plans.end(old)).toBe(false);
      await plans.end(open?.attempt ?? '', { outcome: 'error', code: 'unreachable' });
    }
    expect((await plans.finish(id)).state).toBe('failed');
    expect((await plans.nodes(id))[0]).toMatchObject({ status: 'error', attempts: 3, code: 'unreachable' });
  });

  test('rest between one another, follow no failure of other kinds, and hold nothing meanwhile', async () => {
    const id = await opened(['a'], '', 'rested');
    const simulated = async (outcome: 'failed' | 'error') =>
      (await simulatePlan(plans.db, id, { 'a.run': outcome })).run.attempts['a.run'];
    expect([await simulated('failed'), await simulated('error')]).toEqual([1, 3]);
    const [open] = (await plans.advance(id)).attempts;
    await plans.end(open?.attempt ?? '', { outcome: 'error', code: 'unreachable' });
    expect(await plans.advance(id)).toMatchObject({ isOver: false, attempts: [], waitMs: 60_000 });
    expect(await getNode(plans.db, id, 'a.run')).toMatchObject({
      ...{ status: 'error_retry', end_time: null, reason: expect.stringMatching(/^is tried again not before \d{4}-/) },
    });
    expect(await plans.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
    expect(await plans.db.selectFrom('propagation_lease_waits').selectAll().execute()).toEqual([]);
    plans.pass(30_000);
    expect((await plans.advance(id)).attempts).toEqual([]);
    plans.pass(30_000);
    const [next] = (await plans.advance(id)).attempts;
    await plans.end(next?.attempt ?? '', { outcome: 'failed' });
    expect((await plans.finish(id)).state).toBe('failed');
    expect((await plans.nodes(id))[0]).toMatchObject({ status: 'error', outcome: 'failed', attempts: 2 });
  });

  test('do not follow a run that may still be at work', async () => {
    const id = await opened(['a'], '', 'retried');
    const [open] = (await plans.advance(id)).attempts;
    await plans.end(open?.attempt ?? '', { outcome: 'error', verified: false });
    expect((await plans.finish(id)).state).toBe('failed');
    expect(await plans.attempts(id)).toHaveLength(1);
  });

  test('of a machine that stays away are given up after ten minutes, and their leases stay', async () => {
    const id = await opened(['a'], '');
    const [open] = (await plans.advance(id)).attempts;
    const attempt = open?.attempt ?? '';
    expect(await plans.advance(id, [], [attempt])).toMatchObject({ isOver: false, waitMs: 30_000 });
    plans.pass(9 * 60_000);
    expect((await plans.advance(id, [], [attempt])).attempts).toHaveLength(1);
    plans.pass(60_000);
    expect(await plans.advance(id, [], [attempt])).toMatchObject({ isOver: true });
    expect((await plans.nodes(id))[0]).toMatchObject({ status: 'error', code: 'run_lost' });
    const leases = await plans.db.selectFrom('propagation_leases').select('attempt').execute();
    expect(leases).toEqual([{ attempt }, { attempt }]);
    // A watcher sees the end of the run at last: the leases are free, and nothing else is different.
    expect(await plans.end(attempt, { outcome: 'changed' })).toBe(false);
    expect(await plans.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
    expect((await plans.nodes(id))[0]).toMatchObject({ status: 'error', code: 'run_lost' });
    expect((await plans.attempts(id))[0]).toMatchObject({ outcome: 'error', verified: true });
  });
});

describe('commits', () => {
  test('are made once, whatever is repeated', async () => {
    const id = await opened(['a'], '');
    const [open] = (await plans.advance(id)).attempts;
    await plans.end(open?.attempt ?? '');
    await Promise.all(Array.from({ length: 4 }, () => plans.advance(id)));
    await plans.finish(id);
    expect(await plans.db.selectFrom('propagation_history').select('resource').execute()).toEqual([{ resource: 'a' }]);
    expect((await plans.nodes(id))[0]?.outcome).toBe('created');
  });

  test('wait for both occurrences of an action', async () => {
    const id = await opened(['a', 'b'], 'on a.run changed b.reload\non b.reload changed a.run');
    const committed = async () =>
      (await plans.db.selectFrom('propagation_history').select('resource').execute()).map(({ resource }) => resource);
    const done = async (name: string, outcome: 'changed' | 'failed' = 'changed') => {
      await plans.advance(id);
      const open = (await plans.attempts(id)).filter(({ state }) => state === 'open');
      await plans.end(open.find((attempt) => attempt.name === name)?.id ?? '', { outcome });
      await plans.advance(id);
    };
    await done('a.run#0');
    await done('b.run');
    expect(await committed()).toEqual(['b']);
    await done('b.reload');
    expect(await committed()).toEqual(['b']);
    await done('a.run#1');
    expect((await committed()).sort()).toEqual(['a', 'b']);
    expect((await plans.plan(id)).state).toBe('succeeded');
  });

  test('of what has failed are not made: the item stays staged for a retry', async () => {
    const id = await opened(['a'], '');
    expect((await plans.finish(id, { 'a.run': 'failed' })).state).toBe('failed');
    expect((await plans.get('a')).state).toBe('error');
    const [item] = await plans.items();
    expect(item).toMatchObject({ resource: 'a', action: 'run', state: 'error', plan: id });
  });
});
