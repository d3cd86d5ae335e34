/** Who hears of plans: webhooks, counters, the status of the service, the timelines of components. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readTimeline } from '../../../control/components/read-timeline.ts';
import { retryPlan } from '../../../control/propagation/command-plan.ts';
import { readOpenPlans } from '../../../control/propagation/read-plan.ts';
import { TimelineEntrySchema } from '../../../domain/audit/schema.ts';
import { readTallies } from '../../../store/connection/tallies.ts';
import { listActionsOn } from '../../../store/propagation/action-entries.ts';
import { countPlans } from '../../../store/propagation/plan-notices.ts';
import { openPlans, type PlanBench } from './plan-bench.ts';

let plans: PlanBench;
beforeEach(async () => {
  plans = await openPlans();
  const times = { created_at: new Date(), updated_at: new Date() };
  const common = { url: 'https://hooks.test/***', enabled: true, allow_private_redirects: false, ...times };
  await plans.db
    .insertInto('webhooks')
    .values([
      { ...common, name: 'ended', events: ['plan.ended'] },
      { ...common, name: 'waiting', events: ['plan.waiting'] },
    ])
    .execute();
});
afterEach(() => plans.close());

const told = async (webhook: string) => {
  const query = plans.db.selectFrom('notifications').select(['event', 'data']).where('webhook', '=', webhook);
  return (await query.orderBy('created_at').execute()).map(({ data }) => data);
};

test('the end of a plan is told once for each of its runs, with what has failed and what was mended', async () => {
  await plans.work(['a', 'n2']);
  await plans.addEvents('on n2.run success n2.join\non n2.join failure n2.leave\non n2.leave success n2.join');
  const { id } = await plans.process({ name: 'friday' });
  await plans.run(id, { 'n2.join#0': 'failed', 'a.run': 'error' });
  const summary = expect.objectContaining({ error: 2, success: 3 });
  const common = { id, name: 'friday', recovered: ['n2.join'], unsettled: ['n2.join#1'], follow_up: [], summary };
  expect(await told('ended')).toEqual([
    { ...common, result: 'failed', failed: [{ node: 'a.run', outcome: 'error', message: null }] },
  ]);
  plans.pass(1_000);
  await retryPlan(plans.deps, id);
  expect((await plans.finish(id)).state).toBe('succeeded');
  expect((await told('ended')).map(({ result, failed }) => [result, failed])).toEqual([
    ['failed', [{ node: 'a.run', outcome: 'error', message: null }]],
    ['succeeded', []],
  ]);
  expect(await told('waiting')).toEqual([]);
});

test('nodes that have failed are counted when their plan ends, each once', async () => {
  await plans.work(['a', 'b', 'c']);
  const { id } = await plans.process();
  await plans.run(id, { 'a.run': 'failed', 'b.run': 'failed', 'c.run': 'error' });
  const counted = async () =>
    (await readTallies(plans.db))
      .filter(({ name }) => name === 'plan_nodes_failed')
      .map(({ label, count }) => [label, count]);
  expect(await counted()).toEqual([
    ['error', 1],
    ['failed', 2],
  ]);
  plans.pass(1_000);
  await retryPlan(plans.deps, id, ['a.run']);
  await plans.finish(id, { 'a.run': 'failed' });
  // What was not tried again has not failed again.
  expect(await counted()).toEqual([
    ['error', 1],
    ['failed', 3],
  ]);
});

test('a plan that waits for a lease of another one is told of once, after five minutes, with who has it', async () => {
  await plans.work(['a', 'b'], 'worked', () => 'component:here');
  const [first, second] = [await plans.process({ tags: ['name=a'] }), await plans.process({ tags: ['name=b'] })];
  for (const { id } of [first, second]) {
    await plans.start(id);
    await plans.advance(id);
  }
  const [holder] = await plans.attempts(first.id);
  for (let minute = 0; minute < 12; minute++) {
    expect(await told('waiting')).toHaveLength(minute < 6 ? 0 : 1);
    await plans.advance(second.id);
    plans.pass(60_000);
  }
  const lease = { kind: 'target', key: 'component:here', plan: first.id, attempt: holder?.id };
  expect(await told('waiting')).toMatchObject([
    { id: second.id, name: 'system_log', reason: 'lease', leases: [lease], machines: [] },
  ]);
  expect(await plans.plan(second.id)).toMatchObject({ waits_for: 'lease', waits_told: ['lease'] });
  await plans.end(holder?.id ?? '');
  await plans.advance(second.id);
  expect(await plans.plan(second.id)).toMatchObject({ waits_for: null, waits_since: null });
});

test('a plan whose machine is away is told of before its attempt is given up', async () => {
  await plans.work(['a']);
  const { id } = await plans.process();
  await plans.start(id);
  const [{ attempt } = { attempt: '' }] = (await plans.advance(id)).attempts;
  await plans.db.updateTable('propagation_attempts').set({ machine: 'disk-1' }).execute();
  for (const ms of [0, 300_000]) {
    plans.pass(ms);
    await plans.advance(id, [], [attempt]);
  }
  expect(await told('waiting')).toMatchObject([{ id, reason: 'machine', machines: ['disk-1'], leases: [] }]);
});

test('plans are counted by state, and the open ones are named', async () => {
  await plans.work(['a', 'b']);
  const [first, second] = [await plans.process({ tags: ['name=a'] }), await plans.process({ tags: ['name=b'] })];
  await plans.start(first.id);
  expect(await countPlans(plans.db)).toMatchObject({ built: 1, running: 1, succeeded: 0 });
  const open = [{ id: first.id, name: 'system_log', state: 'running' }];
  expect(await readOpenPlans(plans.db)).toEqual({ running: 1, paused: 0, open });
  await plans.finish(first.id);
  expect(await countPlans(plans.db)).toMatchObject({ built: 1, running: 0, succeeded: 1 });
  expect((await plans.plan(second.id)).state).toBe('built');
});

test('attempts on a component stand in its timeline, in pages, and those of others do not', async () => {
  await plans.work(['a'], 'retried', () => 'component:n001');
  await plans.work(['b']);
  const { id } = await plans.process({ name: 'friday' });
  await plans.run(id, { 'a.run': 'failed' });
  const read = (after_id: string) => readTimeline(plans.db, 'n001', { limit: 2, after_id }, [listActionsOn]);
  const page = await read('');
  const { entries } = await read(page.after ?? '');
  for (const entry of [...page.entries, ...entries]) TimelineEntrySchema.parse(entry);
  expect([...page.entries, ...entries]).toMatchObject(
    [3, 2, 1].map((number) => ({
      ...{ type: 'action', plan: id, plan_name: 'friday', node: 'a.run', number, outcome: 'failed' },
    })),
  );
  await expect(readTimeline(plans.db, 'n001', { limit: 2, after_id: '' })).rejects.toMatchObject({
    code: 'component_not_found',
  });
});
