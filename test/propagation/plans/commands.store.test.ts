/** What users ask of plans, and in which states. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  abandonPlan,
  abortPlan,
  pausePlan,
  removePlan,
  resumePlan,
  retryPlan,
  runPlan,
  stopPlan,
  unpausePlan,
} from '../../../control/propagation/command-plan.ts';
import { releaseAttempt } from '../../../control/propagation/release-leases.ts';
import { pausePlans, unpausePlans } from '../../../control/propagation/stop-plans.ts';
import { sweepPlans } from '../../../control/propagation/wake-plans.ts';
import { openPlans, type PlanBench } from './plan-bench.ts';

let plans: PlanBench;
beforeEach(async () => {
  plans = await openPlans();
});
afterEach(() => plans.close());

const refusal = (code: string, text = '') => expect.objectContaining({ code, message: expect.stringContaining(text) });

/** Three actions, one after the other, of which the first goes on. */
async function begun(): Promise<{ id: string; attempt: string }> {
  await plans.work(['a', 'b', 'c']);
  await plans.addEvents('after a.run success b.run\nafter b.run success c.run\non a.run failure a.rollback');
  const { id } = await plans.process();
  await plans.start(id);
  const [open] = (await plans.advance(id)).attempts;
  return { id, attempt: open?.attempt ?? '' };
}

describe('a command', () => {
  test('is refused in other states, by name', async () => {
    await plans.create('a');
    const { id } = await plans.process();
    for (const command of [stopPlan, abortPlan, pausePlan, unpausePlan, resumePlan, retryPlan]) {
      await expect(command(plans.deps, id)).rejects.toEqual(refusal('plan_state', 'built'));
    }
    await expect(runPlan(plans.deps, 'x')).rejects.toEqual(refusal('plan_not_found'));
    expect((await plans.run(id)).state).toBe('succeeded');
    await expect(runPlan(plans.deps, id)).rejects.toEqual(refusal('plan_state', 'succeeded'));
    await expect(retryPlan(plans.deps, id)).rejects.toEqual(refusal('plan_state', 'succeeded'));
  });

  test('that is fulfilled already changes nothing', async () => {
    const { id } = await begun();
    expect(await runPlan(plans.deps, id)).toMatchObject({ state: 'running', run_number: 1 });
    await pausePlan(plans.deps, id);
    expect(await pausePlan(plans.deps, id)).toMatchObject({ state: 'paused' });
    expect(await runPlan(plans.deps, id)).toMatchObject({ state: 'paused', run_number: 1 });
  });

  test('that Temporal has not heard is told again by the sweep', async () => {
    const { id } = await begun();
    await pausePlan(plans.deps, id);
    plans.told.length = 0;
    await sweepPlans(plans.deps);
    expect(plans.told).toEqual([`plan/${id}`]);
    plans.pass(61_000);
    await sweepPlans(plans.deps);
    expect(plans.told.at(-1)).toBe(`plan/${id} pokePlan`);
    await plans.advance(id);
    await sweepPlans(plans.deps);
    expect(plans.told.at(-1)).toBe(`plan/${id}`);
    await unpausePlan(plans.deps, id);
    await plans.finish(id);
    plans.told.length = 0;
    await sweepPlans(plans.deps);
    expect(plans.told).toEqual([]);
  });
});

describe('stop', () => {
  test('lets what goes on end, and passes over the rest; resume goes on', async () => {
    const { id, attempt } = await begun();
    await stopPlan(plans.deps, id);
    expect(await plans.advance(id, [attempt])).toMatchObject({ isOver: false });
    await plans.end(attempt);
    expect((await plans.finish(id)).state).toBe('stopped');
    expect(await plans.statuses(id)).toEqual({
      'a.run': 'success',
      'b.run': 'skipped',
      'c.run': 'skipped',
      'a.rollback': 'skipped',
    });
    await resumePlan(plans.deps, id);
    expect(await plans.finish(id)).toMatchObject({ state: 'succeeded', run_number: 2, wish: null });
    expect(await plans.statuses(id)).toMatchObject({ 'c.run': 'success', 'a.rollback': 'noop' });
    expect(await plans.attempts(id)).toHaveLength(3);
  });

  test('ends what would be tried again', async () => {
    await plans.work(['a'], 'retried');
    const { id } = await plans.process();
    await plans.start(id);
    const [open] = (await plans.advance(id)).attempts;
    await stopPlan(plans.deps, id);
    await plans.end(open?.attempt ?? '', { outcome: 'failed' });
    expect((await plans.finish(id)).state).toBe('failed');
    expect(await plans.attempts(id)).toHaveLength(1);
  });
});

test('abort asks for the end of what goes on, and nothing is tried again', async () => {
  await plans.work(['a'], 'retried');
  const { id } = await plans.process();
  await plans.start(id);
  const [open] = (await plans.advance(id)).attempts;
  await abortPlan(plans.deps, id);
  await plans.advance(id, [open?.attempt ?? '']);
  expect((await plans.attempts(id))[0]).toMatchObject({ state: 'open', end_wanted: true });
  await plans.end(open?.attempt ?? '', { outcome: 'error', code: 'cancelled', message: 'Cancelled' });
  await plans.finish(id);
  expect((await plans.nodes(id))[0]).toMatchObject({ status: 'error', code: 'cancelled', message: 'Cancelled' });
});

describe('pause', () => {
  test('starts nothing new, also nothing that executes nothing, until it is taken back', async () => {
    const { id, attempt } = await begun();
    await plans.create('x');
    const other = await plans.process({ tags: ['name=x'] });
    await plans.start(other.id);
    for (const one of [id, other.id]) await pausePlan(plans.deps, one);
    await plans.end(attempt);
    for (const one of [id, other.id]) expect(await plans.advance(one)).toMatchObject({ isOver: false, attempts: [] });
    expect(await plans.statuses(id)).toMatchObject({ 'a.run': 'success', 'b.run': 'pending' });
    expect(await plans.statuses(other.id)).toEqual({ 'x.run': 'pending' });
    for (const one of [id, other.id]) {
      await unpausePlan(plans.deps, one);
      expect((await plans.finish(one)).state).toBe('succeeded');
    }
  });

  test('and then stop ends the plan', async () => {
    const { id, attempt } = await begun();
    await pausePlan(plans.deps, id);
    await plans.end(attempt);
    await plans.advance(id);
    await stopPlan(plans.deps, id);
    expect((await plans.finish(id)).state).toBe('stopped');
  });
});

describe('stop everything', () => {
  const by = { actor: 'ann' };

  test('pauses the plans that are running, and go takes back just that', async () => {
    const { id, attempt } = await begun();
    await plans.create('x');
    const byHand = (await plans.process({ tags: ['name=x'] })).id;
    await plans.start(byHand);
    await pausePlan(plans.deps, byHand);
    plans.told.length = 0;
    plans.pass(1_000);
    const at = plans.deps.clock();
    expect(await pausePlans(plans.deps, by, { at })).toEqual({ plans: 1 });
    expect(await pausePlans(plans.deps, by, { at: new Date(at.getTime() + 1) })).toEqual({ plans: 0 });
    expect(plans.told).toEqual([`plan/${id} pokePlan`]);
    await plans.end(attempt);
    expect(await plans.advance(id)).toMatchObject({ isOver: false, attempts: [] });
    expect(await plans.statuses(id)).toMatchObject({ 'a.run': 'success', 'b.run': 'pending' });

    expect(await unpausePlans(plans.deps, by, [new Date(at.getTime() - 1)])).toEqual({ plans: 0 });
    expect(await unpausePlans(plans.deps, by, [at])).toEqual({ plans: 1 });
    expect((await plans.finish(id)).state).toBe('succeeded');
    expect(await unpausePlan(plans.deps, byHand)).toMatchObject({ state: 'running' });
  });

  test('leaves to its user what has had another command since', async () => {
    const { id } = await begun();
    const at = plans.deps.clock();
    await pausePlans(plans.deps, by, { at });
    plans.pass(1_000);
    await unpausePlan(plans.deps, id);
    await pausePlan(plans.deps, id);
    expect(await unpausePlans(plans.deps, by, [at])).toEqual({ plans: 0 });
  });
});

describe('retry', () => {
  test('goes on behind what has failed, with a new budget and further numbers, and commits', async () => {
    const { id, attempt } = await begun();
    await plans.end(attempt, { outcome: 'failed' });
    expect((await plans.finish(id)).state).toBe('failed');
    expect(await plans.statuses(id)).toMatchObject({ 'a.run': 'error', 'b.run': 'blocked', 'a.rollback': 'success' });
    await retryPlan(plans.deps, id);
    expect((await plans.finish(id)).state).toBe('succeeded');
    const ofA = (await plans.attempts(id)).filter(({ name }) => name === 'a.run');
    expect(ofA.map(({ number }) => number)).toEqual([1, 2]);
    expect(await plans.staged()).toEqual([]);
    expect((await plans.get('a')).state).toBe('operational');
  });

  test('is restricted to nodes, which must be there', async () => {
    await plans.work(['a', 'b']);
    const { id } = await plans.process();
    await plans.run(id, { 'a.run': 'failed', 'b.run': 'failed' });
    await expect(retryPlan(plans.deps, id, ['a.run', 'x.run', 'y.run'])).rejects.toMatchObject({
      code: 'node_not_found',
      errors: [{ message: expect.stringContaining('x.run') }, { message: expect.stringContaining('y.run') }],
    });
    await retryPlan(plans.deps, id, ['a.run#0']);
    expect((await plans.finish(id)).state).toBe('failed');
    expect(await plans.statuses(id)).toEqual({ 'a.run': 'success', 'b.run': 'error' });
  });
});

describe('abandon and delete', () => {
  test('free what is not committed', async () => {
    await plans.work(['a', 'b']);
    const { id } = await plans.process();
    await plans.run(id, { 'b.run': 'failed' });
    await expect(plans.discardAll()).rejects.toEqual(refusal('item_in_plan', id));
    expect(await abandonPlan(plans.deps, id)).toMatchObject({ state: 'abandoned' });
    await expect(retryPlan(plans.deps, id)).rejects.toEqual(refusal('plan_state', 'abandoned'));
    const { id: second, order } = await plans.process();
    expect(order).toEqual(['b.run']);
    await removePlan(plans.deps, second);
    expect((await plans.process()).order).toEqual(['b.run']);
    expect(await plans.db.selectFrom('propagation_history').select('resource').execute()).toEqual([{ resource: 'a' }]);
  });

  test('leave a lease alone whose run was not seen to be gone, until it is released', async () => {
    await plans.work(['a']);
    const { id } = await plans.process();
    await plans.start(id);
    const [{ attempt } = { attempt: '' }] = (await plans.advance(id)).attempts;
    await expect(removePlan(plans.deps, id)).rejects.toEqual(refusal('plan_state', 'running'));
    await expect(releaseAttempt(plans.db, attempt)).rejects.toEqual(refusal('plan_state'));
    await plans.end(attempt, { outcome: 'error', verified: false });
    await plans.finish(id);
    await expect(removePlan(plans.deps, id)).rejects.toEqual(refusal('plan_state', attempt));
    await releaseAttempt(plans.db, attempt);
    await removePlan(plans.deps, id);
    expect(await plans.db.selectFrom('propagation_plan_nodes').selectAll().execute()).toEqual([]);
  });
});
