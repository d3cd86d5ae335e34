import { describe, expect, test } from '@jest/globals';
import { buildPlan, type Plan } from '../../../domain/propagation/build-plan.ts';
import { parseEvents, renderEvent } from '../../../domain/propagation/event-text.ts';
import { keywordOf } from '../../../domain/propagation/event-words.ts';
import type { Origin, PlanEdge } from '../../../domain/propagation/plan-schema.ts';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { LOOP_VECTORS, REFUSED } from './loop-vectors.ts';
import { PLAIN_VECTORS } from './vectors.ts';

const VECTORS = [...PLAIN_VECTORS, ...LOOP_VECTORS];

const edgeText = ({ from, to, type, on }: PlanEdge): string =>
  `${from} -> ${to} (${type === 'sequence' ? 'then' : `${keywordOf(type)} ${on}`})`;

const byOrigin = ({ nodes }: Pick<Plan, 'nodes'>): Partial<Record<Origin, string[]>> => {
  const found: Partial<Record<Origin, string[]>> = {};
  for (const { id, origin } of nodes) found[origin] = [...(found[origin] ?? []), id].sort();
  return found;
};

const fixedActions = (fixed: readonly string[] = []) =>
  Object.fromEntries(fixed.map((node) => [node, { repeatable: false }]));

test('there is a vector for each situation', () => {
  expect(VECTORS.length).toBe(19);
  expect(VECTORS.flatMap(({ runs }) => runs).length).toBeGreaterThanOrEqual(30);
});

describe.each(VECTORS)(
  '$name',
  ({ staged, events, fixed = [], nodes, edges, cycles = [], suppressed = [], order, runs }) => {
    test('is built with these nodes, edges, loops and this order', () => {
      const attributesOf = (node: string) => ({ repeatable: !fixed.includes(node) });
      const plan = buildPlan({ staged, events: parseEvents(events), attributesOf });
      expect(byOrigin(plan)).toEqual(nodes);
      if (edges !== undefined) expect(plan.edges.map(edgeText).sort()).toEqual(edges);
      expect(
        plan.cycles.map(({ members, head, repeated, closed_by }) => ({ members, head, repeated, closed_by })),
      ).toEqual(cycles);
      expect(plan.suppressed.map((event) => [renderEvent(event), event.reason])).toEqual(suppressed);
      expect(plan.nodes.map(({ id }) => id)).toEqual(order);
    });

    test.each(runs)('with $outcomes it is $result', ({ outcomes, statuses, result }) => {
      const answer = simulate({ staged, events, actions: fixedActions(fixed), outcomes });
      expect(answer.run.statuses).toMatchObject(statuses);
      expect(answer.run.result).toBe(result);
      expect(answer.order).toEqual(order);
      expect(byOrigin(answer)).toEqual(nodes);
    });
  },
);

test('a loop is refused with its members when every head repeats an action that may not be repeated', () => {
  const run = () => simulate({ staged: REFUSED.staged, events: REFUSED.events, actions: fixedActions(REFUSED.fixed) });
  expect(run).toThrow(
    expect.objectContaining({
      code: 'cycle_not_repeatable',
      errors: [expect.objectContaining({ code: 'cycle_not_repeatable', names: REFUSED.members })],
    }),
  );
});

test('cluster actions run only when the shared data changed, where they follow its resource', () => {
  const members = ['rmq.1', 'rmq.2', 'rmq.3'];
  const input = {
    staged: [...members.map((member) => `${member}.run`), 'rmq.cluster.update'],
    events: [
      'on rmq.cluster.* changed rmq.1.cluster_create',
      'on rmq.1.cluster_create changed rmq.2.cluster_join',
      'on rmq.2.run changed rmq.2.cluster_join',
    ],
  };
  expect(simulate(input).run.statuses).toMatchObject({ 'rmq.1.cluster_create': 'success' });
  const quiet = simulate({ ...input, outcomes: { 'rmq.cluster.update': 'ok', 'rmq.2.run': 'ok' } });
  expect(quiet.run.statuses).toMatchObject({ 'rmq.1.cluster_create': 'noop', 'rmq.2.cluster_join': 'noop' });
});
