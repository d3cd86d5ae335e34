/** Rules of building that no vector shows by itself. */
import { describe, expect, test } from '@jest/globals';
import { buildPlan } from '../../../domain/propagation/build-plan.ts';
import type { PropagationEvent } from '../../../domain/propagation/event-schema.ts';
import { parseEvents, renderEvent } from '../../../domain/propagation/event-text.ts';

const planOf = (staged: string[], lines: string[], actions: Record<string, object> = {}) =>
  buildPlan({ staged, events: parseEvents(lines.join('\n')), attributesOf: (node) => actions[node] });

describe('nodes', () => {
  test('an emitter of every action means those in the plan, but no removal', () => {
    const { nodes, edges } = planOf(['a.remove', 'b.run', 'b.restart'], ['on a.* any x.run', 'on b.* any y.run']);
    expect(nodes.map(({ id }) => id).sort()).toEqual(['a.remove', 'b.restart', 'b.run', 'y.run']);
    expect(edges.map(({ from }) => from)).toEqual(['b.restart', 'b.run']);
  });

  test('a reaction to a failure is in the plan too', () => {
    expect(planOf(['a.run'], ['on a.run failure a.rollback']).nodes).toHaveLength(2);
  });

  test('a reaction between two staged actions adds only an edge', () => {
    const { nodes, edges } = planOf(['a.run', 'b.run'], ['on a.run ok b.run']);
    expect(nodes.map(({ origin }) => origin)).toEqual(['staged', 'staged']);
    expect(edges).toHaveLength(1);
  });

  test('an action that waits for itself is told once and not repeated', () => {
    const { nodes, suppressed } = planOf(['a.run', 'a.stop'], ['after a.* ok a.run', 'after a.run ok a.run']);
    expect(nodes.map(({ id }) => id)).toEqual(['a.stop', 'a.run']);
    expect(suppressed.map(renderEvent)).toEqual(['after a.run ok a.run']);
  });

  test('what is suppressed for a removal is told as it was written, and only where its emitter is in the plan', () => {
    const lines = ['on a.* changed b.run', 'on a.* changed b.remove', 'on z.run changed b.run', 'after a.run ok b.run'];
    const { suppressed, nodes } = planOf(['a.run', 'a.stop', 'b.remove'], lines);
    expect(suppressed.map((event) => [renderEvent(event), event.reason])).toEqual([
      ['on a.* changed b.run', 'child-removed'],
    ]);
    expect(nodes.map(({ id }) => id).sort()).toEqual(['a.run', 'a.stop', 'b.remove']);
  });

  test('edges that differ in type or condition stand side by side, equal ones once', () => {
    const lines = ['on a.run ok b.run', 'on a.* ok b.run', 'on a.run changed b.run', 'after a.run ok b.run'];
    const { edges } = planOf(['a.run'], lines);
    expect(edges.map(({ type, on }) => `${type} ${on}`)).toEqual(['depends_on ok', 'react_on changed', 'react_on ok']);
  });
});

describe('the head of a loop', () => {
  const RING = ['after a.run ok b.run', 'after b.run ok c.run', 'after c.run ok a.run'];
  const headOf = (staged: string[], lines: string[], actions: Record<string, object> = {}) => {
    const [cycle] = planOf(staged, lines, actions).cycles;
    return [cycle?.head, cycle?.rule];
  };

  test('is the first of equals by name', () => {
    expect(headOf(['a.run', 'b.run', 'c.run'], RING)).toEqual(['a.run', 'name']);
  });

  test('is the action with the highest priority', () => {
    const actions = { 'c.run': { repeat_priority: 1 }, 'b.run': { repeat_priority: -1 } };
    expect(headOf(['a.run', 'b.run', 'c.run'], RING, actions)).toEqual(['c.run', 'repeat-priority']);
  });

  test('is the action with the longest chain of prerequisites outside, counted to the last run of a loop before', () => {
    const before = ['on p.run any p.run', 'after p.run any b.run', 'after o.run any o2.run', 'after o2.run any c.run'];
    const staged = ['a.run', 'b.run', 'c.run', 'p.run', 'o.run', 'o2.run'];
    // p.run#0 -> p.run#1 -> b.run is as long as o.run -> o2.run -> c.run.
    expect(headOf(staged, [...RING, ...before])).toEqual(['b.run', 'name']);
    expect(headOf([...staged, 'q.run'], [...RING, ...before, 'after q.run any o.run'])).toEqual(['c.run', 'outside']);
  });

  test('is staged, or reached by a reaction from outside: other members are never looked at', () => {
    const lines = ['on s.run ok b.run', 'on b.run ok a.run', 'on a.run ok b.run'];
    expect(headOf(['s.run'], lines, { 'a.run': { repeat_priority: 9 } })).toEqual(['b.run', 'only-candidate']);
  });

  test('is the next candidate where the first would repeat what may not be repeated, among sixteen', () => {
    expect(headOf(['a.run', 'b.run', 'c.run'], RING, { 'a.run': { repeatable: false } })).toEqual([
      'b.run',
      'not-repeatable',
    ]);
    const names = Array.from({ length: 17 }, (_, index) => `n${String(index).padStart(2, '0')}.run`);
    const ring = names.map((name, index) => `after ${name} ok ${names[(index + 1) % names.length]}`);
    const fixed = (count: number) =>
      Object.fromEntries(names.slice(0, count).map((name) => [name, { repeatable: false }]));
    expect(headOf(names, ring, fixed(15))).toEqual([names[15], 'not-repeatable']);
    expect(() => planOf(names, ring, fixed(16))).toThrow(expect.objectContaining({ code: 'cycle_not_repeatable' }));
  });
});

test('a reaction that would repeat a removal is dropped and told', () => {
  const { nodes, suppressed, cycles } = planOf(['a.remove'], ['on a.remove ok b.remove', 'on b.remove ok a.remove']);
  expect(nodes.map(({ id }) => id)).toEqual(['a.remove', 'b.remove']);
  expect(suppressed).toMatchObject([{ parent: 'b.remove', child: 'a.remove', reason: 'remove-cycle' }]);
  expect(cycles).toMatchObject([{ repeated: [], closed_by: [['b.remove', 'a.remove']] }]);
});

describe('weights', () => {
  test('count everything behind a node, along each way', () => {
    const chain = (name: string) =>
      Array.from({ length: 4 }, (_, index) => `on ${name}${index}.run ok ${name}${index + 1}.run`);
    const lines = ['on s.run ok a0.run', 'on s.run ok b0.run', ...chain('a'), ...chain('b')];
    const weights = new Map(planOf(['s.run'], lines).nodes.map(({ id, weight }) => [id, weight]));
    expect(weights.get('s.run')).toBe(10);
    expect(['a0', 'a1', 'a4', 'b0', 'b1', 'b4'].map((name) => weights.get(`${name}.run`))).toEqual([4, 3, 0, 4, 3, 0]);
  });

  test('end at the greatest exact number', () => {
    const layers = Array.from({ length: 60 }, (_, layer) => [`l${layer}.a`, `l${layer}.b`]);
    const lines = layers.flatMap((layer, index) =>
      layer.flatMap((from) => (layers[index + 1] ?? []).map((to) => `on ${from} ok ${to}`)),
    );
    const [first] = planOf(['l0.a', 'l0.b'], lines).nodes;
    expect(first?.weight).toBe(Number.MAX_SAFE_INTEGER);
  });
});

test('chains and loops of any length are built', () => {
  const count = 30_000;
  const events: PropagationEvent[] = Array.from({ length: count }, (_, index) => ({
    ...{ type: 'react_on', on: 'changed' },
    ...{ parent: `r${index}.run`, child: `r${index + 1}.run` },
  }));
  expect(buildPlan({ staged: ['r0.run'], events }).nodes).toHaveLength(count + 1);
  const back: PropagationEvent = { type: 'react_on', on: 'changed', parent: `r${count}.run`, child: 'r0.run' };
  const ring = buildPlan({ staged: ['r0.run'], events: [...events, back] });
  expect(ring.nodes).toHaveLength(count + 2);
  expect(ring.cycles[0]?.closed_by).toEqual([[`r${count}.run`, 'r0.run']]);
});
