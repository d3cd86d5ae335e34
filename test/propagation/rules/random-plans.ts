/** Random staged actions and events for properties of plans. */
import fc from 'fast-check';
import {
  CONDITIONS,
  EVENT_TYPES,
  OUTCOMES,
  type Outcome,
  type PropagationEvent,
} from '../../../domain/propagation/event-schema.ts';

export interface RandomPlan {
  staged: string[];
  events: PropagationEvent[];
  actions: Record<string, { repeatable?: boolean; repeat_priority?: number; target?: string; type?: string }>;
  outcomes: Record<string, Outcome>;
}

const RESOURCES = ['a', 'b', 'c', 'd.1'];
const NODES = [...RESOURCES.flatMap((resource) => [`${resource}.run`, `${resource}.reload`]), 'a.remove', 'b.remove'];

const node = fc.constantFrom(...NODES);
const event: fc.Arbitrary<PropagationEvent> = fc.record({
  type: fc.constantFrom(...EVENT_TYPES),
  parent: fc.oneof(
    { weight: 8, arbitrary: node },
    { weight: 1, arbitrary: fc.constantFrom(...RESOURCES.map((r) => `${r}.*`)) },
  ),
  on: fc.constantFrom(...CONDITIONS),
  child: node,
});

/** A few staged actions, up to 40 events among 10 nodes: dense enough for loops inside loops. */
export const randomPlan: fc.Arbitrary<RandomPlan> = fc.record({
  staged: fc.uniqueArray(node, { minLength: 1, maxLength: 6 }),
  events: fc.array(event, { maxLength: 40, size: 'max' }),
  actions: fc.dictionary(
    node,
    fc.record(
      {
        repeat_priority: fc.integer({ min: -2, max: 2 }),
        target: fc.constantFrom('1', '2'),
        type: fc.constantFrom('x'),
      },
      { requiredKeys: [] },
    ),
  ),
  outcomes: fc.dictionary(
    fc.oneof(
      node,
      node.map((name) => `${name}#0`),
      node.map((name) => `${name}#1`),
    ),
    fc.constantFrom(...OUTCOMES),
    { maxKeys: 12 },
  ),
});
