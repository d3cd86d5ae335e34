/** Events that a connection of data between two resources makes by itself. */
import type { PropagationEvent } from './event-schema.ts';

/** Which events a connection makes: order, reactions, both (the default), or none. */
export const EVENT_POLICIES = ['full', 'dependency', 'reaction', 'none'] as const;
export type EventPolicy = (typeof EVENT_POLICIES)[number];

export interface Connected {
  emitter: string;
  receiver: string;
  policy?: EventPolicy;
  /** Actions that the receiver defines. */
  actions: Iterable<string>;
}

/**
 * The receiver runs after its emitter and is removed before it; it reloads when its emitter changed and runs again when its emitter
 * was removed, if it has these actions. Returns none for a resource that is connected to itself.
 */
export function defaultEvents({ emitter, receiver, policy = 'full', actions }: Connected): PropagationEvent[] {
  if (emitter === receiver || policy === 'none') return [];
  const defined = new Set(actions);
  const dependencies: PropagationEvent[] = [
    { type: 'depends_on', parent: `${emitter}.run`, on: 'success', child: `${receiver}.run` },
    { type: 'depends_on', parent: `${emitter}.update`, on: 'success', child: `${receiver}.update` },
    { type: 'depends_on', parent: `${receiver}.remove`, on: 'success', child: `${emitter}.remove` },
  ];
  const reactions: PropagationEvent[] = [
    { type: 'react_on', parent: `${emitter}.run`, on: 'changed', child: `${receiver}.reload` },
    { type: 'react_on', parent: `${emitter}.remove`, on: 'changed', child: `${receiver}.run` },
  ];
  return [
    ...(policy === 'reaction' ? [] : dependencies),
    ...(policy === 'dependency' ? [] : reactions.filter(({ child }) => defined.has(child.slice(receiver.length + 1)))),
  ];
}
