/** Plans as they are shown: explained by the way back over their rows, reported, paged. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { explainNode } from '../../../control/propagation/explain-node.ts';
import { getPlan, getReport, pageOfNodes, pageOfPlans } from '../../../control/propagation/read-plan.ts';
import { getGraph } from '../../../control/propagation/show-plan.ts';
import { parseEvents } from '../../../domain/propagation/event-text.ts';
import { explain } from '../../../domain/propagation/explain.ts';
import { graphView } from '../../../domain/propagation/graph-text.ts';
import { resourceOf } from '../../../domain/propagation/node-id.ts';
import { indexPlan } from '../../../domain/propagation/plan-index.ts';
import { PlanNodeViewSchema, PlanReportSchema, PlanViewSchema } from '../../../domain/propagation/plan-view-schema.ts';
import type { NodeState } from '../../../domain/propagation/run-plan.ts';
import { LOOP_VECTORS } from '../rules/loop-vectors.ts';
import { PLAIN_VECTORS } from '../rules/vectors.ts';
import { openPlans, type PlanBench } from './plan-bench.ts';

let plans: PlanBench;
beforeEach(async () => {
  plans = await openPlans();
});
afterEach(() => plans.close());

describe('explain', () => {
  test.each([...PLAIN_VECTORS, ...LOOP_VECTORS])(
    '$name: from rows as from the whole plan, before and after',
    async (vector) => {
      const { staged, events, fixed = [], runs } = vector;
      const named = parseEvents(events).flatMap(({ parent, child }) => [parent, child]);
      const once = new Set(fixed.map(resourceOf));
      await plans.work([...new Set([...staged, ...named].map(resourceOf))].filter((name) => !once.has(name)));
      await plans.work([...once], 'fixed');
      await plans.addEvents(events);
      await plans.commitAll();
      await plans.stage(staged);
      const plan = await plans.process();
      const index = indexPlan(plan);
      const compare = async () => {
        const states = (await plans.nodes(plan.id)).map(
          ({ status, outcome, reason, attempts }): NodeState => ({
            ...{ status, outcome, attempts },
            reason: reason === 'not-triggered' ? reason : undefined,
          }),
        );
        for (const node of plan.order) {
          expect(await explainNode(plans.db, plan.id, node)).toEqual(explain(node, index, states, plan.suppressed));
        }
      };
      await compare();
      await plans.run(plan.id, runs.at(-1)?.outcomes);
      await compare();
    },
  );

  test('finds the way over a reaction that would have repeated a removal', async () => {
    await plans.work(['a', 'b', 'c']);
    await plans.addEvents('on a.remove changed b.remove\non b.remove changed c.remove\non c.remove changed a.remove');
    await plans.commitAll();
    await plans.stage(['a.remove']);
    const plan = await plans.process();
    expect(plan.suppressed).toMatchObject([{ parent: 'c.remove', child: 'a.remove', reason: 'remove-cycle' }]);
    expect((await explainNode(plans.db, plan.id, 'c.remove')).chain).toEqual([
      { from: 'a.remove', event: 'on a.remove changed b.remove', to: 'b.remove' },
      { from: 'b.remove', event: 'on b.remove changed c.remove', to: 'c.remove' },
    ]);
  });

  test('names a node that is not there, and the occurrences of a node that is repeated', async () => {
    await plans.work(['a']);
    await plans.addEvents('on a.run changed a.run');
    const { id } = await plans.process();
    const explained = (name: string, plan = id) => explainNode(plans.db, plan, name);
    await expect(explained('x.run')).rejects.toMatchObject({ code: 'node_not_found' });
    await expect(explained('a.run')).rejects.toThrow('write a.run#0 or a.run#1');
    await expect(explained('a.run#0', 'nothing')).rejects.toMatchObject({ code: 'plan_not_found' });
    expect(await explained('a.run#1')).toMatchObject({ origin: 'repeat', decision: { status: 'pending' } });
  });
});

test('a report has all nodes in canonical order, with times and totals', async () => {
  await plans.work(['a', 'b']);
  await plans.addEvents('after a.run success b.run');
  const { id } = await plans.process();
  expect(await getReport(plans.db, id)).toMatchObject({ total_time: 0, total_delta: 0, percent: 0, is_cut: false });
  await plans.start(id);
  await plans.advance(id);
  plans.pass(3_000);
  const [open] = await plans.attempts(id);
  await plans.end(open?.id ?? '', { outcome: 'failed', message: 'exit status 1' });
  await plans.finish(id);
  const report = PlanReportSchema.parse(await getReport(plans.db, id));
  expect(report.nodes.map(({ node, status, message }) => [node, status, message])).toEqual([
    ['a.run', 'error', 'exit status 1'],
    ['b.run', 'blocked', null],
  ]);
  expect(report.nodes[1]?.blocked_by).toEqual(['a.run']);
  expect(report.total_delta).toBeGreaterThanOrEqual(3);
  expect(report).toMatchObject({ percent: 100, summary: { error: 1, blocked: 1, success: 0 } });
});

test('a node that waits says for what, and which plan has it', async () => {
  await plans.work(['a', 'b'], 'worked', () => 'component:here');
  const [first, second] = [await plans.process({ tags: ['name=a'] }), await plans.process({ tags: ['name=b'] })];
  for (const { id } of [first, second]) {
    await plans.start(id);
    await plans.advance(id);
  }
  const { records } = await pageOfNodes(plans.db, second.id, '', 10);
  expect(records).toMatchObject([
    { status: 'pending', reason: `waits for target component:here, which plan ${first.id} has` },
  ]);
  for (const row of records) PlanNodeViewSchema.parse(row);
});

describe('the graph around a node', () => {
  const graphOf = async (id: string, around: string, depth: number) => {
    const { nodes, edges } = await getGraph(plans.db, id, { around, depth });
    return [nodes.map((node) => node.id), edges.map(({ from, to }) => `${from} ${to}`)];
  };

  test('has what edges lead to in both directions, as a cut of the whole graph', async () => {
    await plans.work(['a', 'b', 'c', 'd']);
    await plans.addEvents(
      'on a.run changed b.run\non b.run changed c.run\non c.run changed b.run\nafter c.run success d.run',
    );
    const { id } = await plans.process();
    const whole = await getGraph(plans.db, id, undefined);
    for (const around of ['a.run', 'b.run', 'b.run#1', 'c.run#0', 'd.run']) {
      for (const depth of [0, 1, 2, 9]) {
        const { nodes, edges } = graphView(whole, { around, depth });
        expect(await getGraph(plans.db, id, { around, depth })).toMatchObject({ nodes, edges });
      }
    }
    expect(await graphOf(id, 'a.run', 0)).toEqual([['a.run'], []]);
    await expect(graphOf(id, 'x.run', 1)).rejects.toMatchObject({ code: 'node_not_found' });
  });

  test('of more than can be shown is refused', async () => {
    const names = Array.from({ length: 501 }, (_, index) => `n${String(index).padStart(3, '0')}`);
    await plans.create(...names);
    await plans.addEvents(names.slice(1).map((name) => `after n000.run success ${name}.run`));
    const { id } = await plans.process();
    expect((await graphOf(id, 'n007.run', 1))[0]).toEqual(['n000.run', 'n007.run']);
    await expect(graphOf(id, 'n007.run', 2)).rejects.toMatchObject({ code: 'graph_too_large' });
    await expect(getGraph(plans.db, id, undefined)).rejects.toMatchObject({ code: 'graph_too_large' });
  });
});

test('plans come in pages, newest first', async () => {
  await plans.create('a', 'b', 'c');
  const made: string[] = [];
  for (const name of ['a', 'b', 'c']) made.unshift((await plans.process({ tags: [`name=${name}`] })).id);
  const first = await pageOfPlans(plans.db, {}, '', 2);
  expect([first.records.map(({ id }) => id), first.more]).toEqual([made.slice(0, 2), true]);
  const second = await pageOfPlans(plans.db, {}, first.records.at(-1)?.id ?? '', 2);
  expect([second.records.map(({ id }) => id), second.more]).toEqual([made.slice(2), false]);
  for (const { id } of first.records) PlanViewSchema.parse(await getPlan(plans.db, id));
});
