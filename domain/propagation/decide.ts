/** Whether a node runs, once everything that it waits for has ended. Simulation and execution both decide here. */
import type { Outcome } from './event-schema.ts';
import type { NodeStatus, NoopReason, Origin } from './plan-schema.ts';
import { type Aggregate, type EdgeGroup, type Emitter, verdictOf } from './verdict.ts';

export interface Decision {
  /** `pending`: the node runs, or still waits for an emitter; `isDecided` tells. */
  status: Extract<NodeStatus, 'pending' | 'noop' | 'blocked'>;
  isDecided: boolean;
  reason?: NoopReason;
  /** Emitters whose events fired. */
  triggered_by: { node: string; outcome: Outcome }[];
  /** Nodes whose end keeps this one from running. */
  blocked_by: string[];
}

/**
 * Decides one node. What is staged runs unless an event blocks it. Other nodes run if an event fires: a reaction, or for the second
 * pass of a loop any event that leads back.
 */
export function decide(origin: Origin, groups: readonly EdgeGroup[]): Decision {
  const judged = groups.map((group) => ({ group, ...verdictOf(group) }));
  const triggered_by = judged
    .filter(({ group, verdict }) => verdict === 'fire' && (origin === 'repeat' || group.type === 'react_on'))
    .flatMap(({ group, aggregate }) => triggerOf(group.from, aggregate));
  const blocking = judged.filter(({ verdict }) => verdict === 'block');
  const blocked_by = sorted(blocking.flatMap(({ group, aggregate }) => culpritsOf(group.from, aggregate)));
  const facts = { triggered_by: unique(triggered_by), blocked_by };
  if (judged.some(({ verdict }) => verdict === null)) return { status: 'pending', isDecided: false, ...facts };
  if (blocking.length > 0) return { status: 'blocked', isDecided: true, ...facts };
  const runs = origin === 'staged' || origin === 'control' || triggered_by.length > 0;
  return runs
    ? { status: 'pending', isDecided: true, ...facts }
    : { status: 'noop', isDecided: true, reason: 'not-triggered', ...facts };
}

/** The latest occurrence with the outcome that fired. */
function triggerOf(from: readonly Emitter[], aggregate: Aggregate | null): { node: string; outcome: Outcome }[] {
  const fired = from.filter(({ outcome }) => outcome === aggregate).sort((a, b) => b.occurrence - a.occurrence);
  return fired.slice(0, 1).flatMap(({ node, outcome }) => (outcome === null ? [] : [{ node, outcome }]));
}

/** The occurrences by which an event blocks. */
function culpritsOf(from: readonly Emitter[], aggregate: Aggregate | null): string[] {
  const skipped = from.filter(({ status }) => status === 'skipped');
  const ran = from.filter(({ outcome }) => outcome !== null).sort((a, b) => b.occurrence - a.occurrence);
  const blocked = from.filter(({ status }) => status === 'blocked');
  if (skipped.length > 0) return skipped.map(({ node }) => node);
  if (aggregate === 'failed' || aggregate === 'error') return ran.slice(0, 1).map(({ node }) => node);
  return blocked.map(({ node }) => node);
}

function unique(triggers: readonly { node: string; outcome: Outcome }[]): { node: string; outcome: Outcome }[] {
  const byNode = new Map(triggers.map((trigger) => [trigger.node, trigger]));
  return [...byNode.values()].sort((a, b) => (a.node < b.node ? -1 : a.node > b.node ? 1 : 0));
}

const sorted = (nodes: readonly string[]): string[] => [...new Set(nodes)].sort();
