import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildPlan, type Plan } from '../../../domain/propagation/build-plan.ts';
import { decide } from '../../../domain/propagation/decide.ts';
import { indexPlan } from '../../../domain/propagation/plan-index.ts';
import { planEnd } from '../../../domain/propagation/result.ts';
import { groupsInto, type NodeState } from '../../../domain/propagation/run-plan.ts';
import { simulate } from '../../../domain/propagation/simulate.ts';
import { isSuccess, isTerminal } from '../../../domain/propagation/verdict.ts';
import { type RandomPlan, randomPlan } from './random-plans.ts';

const RUNS = { numRuns: 500 };

const built = ({ staged, events, actions }: RandomPlan): Plan =>
  buildPlan({ staged, events, attributesOf: (node) => actions[node] });

/** Whether the nodes can be put in an order in which every edge points forward, by taking away what nothing leads to. */
function isAcyclic({ nodes, edges }: Plan): boolean {
  let left = new Set(nodes.map(({ id }) => id));
  for (;;) {
    const entered = new Set(edges.filter(({ from }) => left.has(from)).map(({ to }) => to));
    const rest = new Set([...left].filter((id) => entered.has(id)));
    if (rest.size === left.size) return rest.size === 0;
    left = rest;
  }
}

test('random plans have loops, also loops that repeat several actions', () => {
  const plans = fc.sample(randomPlan, { numRuns: 200, seed: 1 }).map(built);
  expect(plans.filter(({ cycles }) => cycles.length > 0).length).toBeGreaterThan(50);
  expect(plans.filter(({ cycles }) => cycles.some(({ repeated }) => repeated.length > 1)).length).toBeGreaterThan(20);
});

describe('every plan', () => {
  test('has no cycle, lists each node after what it waits for, and names only its own nodes', () => {
    fc.assert(
      fc.property(randomPlan, (given) => {
        const plan = built(given);
        const place = new Map(plan.nodes.map(({ id }, index) => [id, index]));
        expect(isAcyclic(plan)).toBe(true);
        for (const { from, to } of plan.edges) expect(place.get(from)).toBeLessThan(place.get(to) ?? -1);
      }),
      RUNS,
    );
  });

  test('runs each action once or twice, never repeats a removal, and has the staged actions', () => {
    fc.assert(
      fc.property(randomPlan, (given) => {
        const { nodes } = built(given);
        const occurrences = Map.groupBy(nodes, ({ base }) => base);
        for (const [base, list] of occurrences) {
          expect(list.map(({ id }) => id).sort()).toEqual(list.length === 1 ? [base] : [`${base}#0`, `${base}#1`]);
          if (base.endsWith('.remove')) expect(list).toHaveLength(1);
        }
        for (const staged of given.staged) expect(occurrences.has(staged)).toBe(true);
      }),
      RUNS,
    );
  });

  test('has at most two nodes for each action, two edges for each event between two actions, and one for each repeat', () => {
    fc.assert(
      fc.property(randomPlan, (given) => {
        const { nodes, edges } = built(given);
        const bases = new Set(nodes.map(({ base }) => base));
        const baseOf = new Map(nodes.map(({ id, base }) => [id, base]));
        const events = new Set(
          edges.map(({ from, to, type, on }) => `${type} ${baseOf.get(from)} ${on} ${baseOf.get(to)}`),
        );
        const sequences = edges.filter(({ type }) => type === 'sequence').length;
        expect(nodes.length).toBeLessThanOrEqual(2 * bases.size);
        expect(sequences).toBe(nodes.length - bases.size);
        expect(edges.length - sequences).toBeLessThanOrEqual(2 * events.size);
      }),
      RUNS,
    );
  });

  test('leads each event to one occurrence: to the second where it closed a loop, else to the first', () => {
    fc.assert(
      fc.property(randomPlan, (given) => {
        const { nodes, edges, cycles } = built(given);
        const baseOf = new Map(nodes.map(({ id, base }) => [id, base]));
        const closing = new Set(cycles.flatMap(({ closed_by }) => closed_by.map((pair) => pair.join(' '))));
        for (const { from, to, type } of edges) {
          if (type === 'sequence') continue;
          expect(to.endsWith('#1')).toBe(closing.has(`${baseOf.get(from)} ${baseOf.get(to)}`));
        }
      }),
      RUNS,
    );
  });

  test('is the same whatever the order of what is given, also with doubles', () => {
    const shuffled = randomPlan.chain((given) =>
      fc.record({
        given: fc.constant(given),
        staged: fc.shuffledSubarray(given.staged, { minLength: given.staged.length }),
        events: fc.shuffledSubarray([...given.events, ...given.events], { minLength: 2 * given.events.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ given, staged, events }) => {
        expect(built({ ...given, staged, events })).toEqual(built(given));
        const { outcomes, actions } = given;
        expect(simulate({ staged, events, outcomes, actions })).toEqual(simulate({ ...given }));
      }),
      RUNS,
    );
  });
});

/** Runs a plan one node at a time, in an order that `next` chooses, by rows of states alone. */
function runInOrder(plan: Plan, given: RandomPlan, next: (count: number) => number) {
  const index = indexPlan(plan);
  const states: NodeState[] = plan.nodes.map(() => ({ status: 'pending', outcome: null, attempts: 0 }));
  const ready = () =>
    plan.nodes.flatMap(({ origin }, number) => {
      const decision = decide(origin, groupsInto(index, states, number));
      return states[number]?.status === 'pending' && decision.isDecided ? [{ number, decision }] : [];
    });
  for (let open = ready(); open.length > 0; open = ready()) {
    const chosen = open[next(open.length)];
    if (chosen === undefined) throw new Error('no node was chosen');
    const { id = '', base = '', occurrence } = plan.nodes[chosen.number] ?? {};
    const { status, reason } = chosen.decision;
    const alias = occurrence === 0 ? given.outcomes[`${base}#0`] : undefined;
    const outcome = given.outcomes[id] ?? alias ?? given.outcomes[base] ?? 'changed';
    states[chosen.number] =
      status === 'pending'
        ? { status: isSuccess(outcome) ? 'success' : 'error', outcome, attempts: 1 }
        : { status, outcome: null, attempts: 0, reason };
  }
  return states;
}

test('statuses depend on the plan and the outcomes alone, not on what runs when', () => {
  fc.assert(
    fc.property(randomPlan, fc.infiniteStream(fc.nat()), (given, choices) => {
      const plan = built(given);
      const states = runInOrder(plan, given, (count) => choices.next().value % count);
      expect(states.every(({ status }) => isTerminal(status))).toBe(true);
      const { run } = simulate({ ...given });
      expect(Object.fromEntries(plan.nodes.map(({ id }, number) => [id, states[number]?.status]))).toEqual(
        run.statuses,
      );
      const end = planEnd(plan.nodes.map((node, number) => ({ ...node, ...(states[number] as NodeState) })));
      expect(end).toEqual({ result: run.result, recovered: run.recovered, unsettled: run.unsettled });
    }),
    RUNS,
  );
});

test('every round keeps to the limits, and what ran was started once', () => {
  fc.assert(
    fc.property(randomPlan, fc.integer({ min: 1, max: 3 }), (given, items) => {
      const { waves, run, nodes } = simulate({ ...given, items, type_limits: { x: 1 } });
      const byId = new Map(nodes.map((node) => [node.id, node]));
      for (const wave of waves) {
        expect(wave.length).toBeLessThanOrEqual(items);
        const started = wave.map((id) => byId.get(id));
        const places = started.flatMap((node) => node?.target ?? []);
        const resources = started.map((node) => node?.base.replace(/\.[^.]*$/, ''));
        expect(new Set(places).size).toBe(places.length);
        expect(new Set(resources).size).toBe(resources.length);
        expect(started.filter((node) => given.actions[node?.base ?? '']?.type === 'x').length).toBeLessThanOrEqual(1);
      }
      const ran = Object.entries(run.attempts).flatMap(([id, attempts]) => (attempts > 0 ? [id] : []));
      expect(waves.flat().sort()).toEqual(ran.sort());
    }),
    RUNS,
  );
});
