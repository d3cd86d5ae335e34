/** Every worked plan through process and the steps of its driver, on a real Postgres; attempts end as their script says. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { previewChanges } from '../../../control/propagation/process-changes.ts';
import { simulateChanges, simulatePlan } from '../../../control/propagation/simulate-plan.ts';
import { parseEvents } from '../../../domain/propagation/event-text.ts';
import { actionOf, resourceOf } from '../../../domain/propagation/node-id.ts';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { LOOP_VECTORS, REFUSED } from '../rules/loop-vectors.ts';
import { PLAIN_VECTORS, type PlanVector } from '../rules/vectors.ts';
import { openPlans, type PlanBench } from './plan-bench.ts';

let plans: PlanBench;
beforeEach(async () => {
  plans = await openPlans();
});
afterEach(() => plans.close());

const VECTORS = [...PLAIN_VECTORS, ...LOOP_VECTORS];

/** Resources, events and staged items of a worked plan; everything was committed before. */
async function stage({ staged, events, fixed = [] }: Pick<PlanVector, 'staged' | 'events' | 'fixed'>): Promise<void> {
  const named = parseEvents(events).flatMap(({ parent, child }) => [parent, child]);
  const resources = [...new Set([...staged, ...named].map(resourceOf))];
  const once = new Set(fixed.map(resourceOf));
  await plans.work(resources.filter((name) => !once.has(name)));
  await plans.work([...once], 'fixed');
  await plans.addEvents(events);
  await plans.commitAll();
  await plans.stage(staged);
}

/** Each time another one of what is open ends, the last one that was begun first. */
const oneByOne = (open: readonly string[]) => open.slice(-1);

describe.each(VECTORS)('$name', (vector) => {
  test('is processed as it is built', async () => {
    await stage(vector);
    const preview = await previewChanges(plans.deps, {});
    const plan = await plans.process();
    expect(plan.order).toEqual(vector.order);
    expect(plan.cycles).toMatchObject(vector.cycles ?? []);
    expect(plan.suppressed.map(({ reason }) => reason)).toEqual((vector.suppressed ?? []).map(([, reason]) => reason));
    expect(preview).toEqual({ ...plan, id: undefined, name: undefined, state: undefined });
    const rows = await plans.nodes(plan.id);
    expect(rows.map(({ id }) => id)).toEqual(vector.order);
    expect(
      rows
        .filter(({ origin }) => origin === 'staged')
        .map(({ base }) => base)
        .sort(),
    ).toEqual([...vector.staged].sort());
  });

  test.each(vector.runs)('with $outcomes it is $result', async ({ outcomes, statuses, result }) => {
    await stage(vector);
    const foreseen = await simulateChanges(plans.deps, {}, outcomes);
    const { id } = await plans.process();
    expect((await simulatePlan(plans.db, id, outcomes)).run).toEqual(foreseen.run);
    const { state, counts } = await plans.run(id, outcomes, oneByOne);
    expect(await plans.statuses(id)).toMatchObject(statuses);
    expect(state).toBe(result);
    const actions = Object.fromEntries((vector.fixed ?? []).map((node) => [node, { repeatable: false }]));
    const simulated = simulate({ staged: vector.staged, events: vector.events, actions, outcomes });
    expect(foreseen).toMatchObject({ run: simulated.run, order: simulated.order, edges: simulated.edges });
    expect(await plans.statuses(id)).toEqual(simulated.run.statuses);
    expect((await simulatePlan(plans.db, id, {})).run).toMatchObject({ statuses: simulated.run.statuses, result });
    expect(counts).toMatchObject({ pending: 0, in_progress: 0, error_retry: 0 });
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(vector.order.length);
  });
});

test('a loop that no head resolves is refused with its members, and leaves no plan', async () => {
  await stage(REFUSED);
  await expect(plans.process()).rejects.toMatchObject({
    code: 'cycle_not_repeatable',
    errors: [{ names: REFUSED.members }],
  });
  expect(await plans.db.selectFrom('propagation_plans').selectAll().execute()).toEqual([]);
  expect((await plans.items()).map(({ resource, action, plan }) => [`${resource}.${action}`, plan])).toEqual(
    REFUSED.staged.map((node) => [`${resourceOf(node)}.${actionOf(node)}`, null]),
  );
});
