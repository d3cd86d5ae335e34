/** What the end of an emitter means for a subscriber: go, be still, or stay where it is. */
import type { Condition, Outcome } from './event-schema.ts';
import type { EdgeType, NodeStatus } from './plan-schema.ts';

/** An occurrence at the other end of an edge, as far as it counts. */
export interface Emitter {
  node: string;
  occurrence: 0 | 1;
  status: NodeStatus;
  outcome: Outcome | null;
}

/** One event into a node. Both occurrences of a repeated emitter are judged together. */
export interface EdgeGroup {
  type: EdgeType;
  /** Null for the sequence of two occurrences. */
  on: Condition | null;
  from: readonly Emitter[];
}

export type Aggregate = Outcome | 'none' | 'blocked' | 'skipped';
export type Verdict = 'fire' | 'quiet' | 'block';

export const SUCCESSES: readonly Outcome[] = ['created', 'changed', 'ok'];
const FAILURES: readonly Outcome[] = ['failed', 'error'];

/** The outcomes that a condition matches. */
const MATCHES: Readonly<Record<Condition, readonly Outcome[]>> = {
  created: ['created'],
  changed: ['created', 'changed'],
  ok: ['ok'],
  success: SUCCESSES,
  failed: ['failed'],
  error: ['error'],
  failure: FAILURES,
  any: [...SUCCESSES, ...FAILURES],
};

/** Whether actions that ended so have succeeded; what did not run has not. */
export const isSuccess = (aggregate: Aggregate): boolean => SUCCESSES.some((outcome) => outcome === aggregate);

const OPEN: readonly NodeStatus[] = ['pending', 'in_progress', 'error_retry'];

/** Whether a status is an end, of which another node may be decided. */
export const isTerminal = (status: NodeStatus): boolean => !OPEN.includes(status);

/** Returns the one outcome of all occurrences of an action, which have all ended. A failure counts if no later occurrence mended it. */
export function aggregateOf(occurrences: readonly Emitter[]): Aggregate {
  if (occurrences.some(({ status }) => status === 'skipped')) return 'skipped';
  const ran = occurrences.filter(({ outcome }) => outcome !== null).sort((a, b) => b.occurrence - a.occurrence);
  const last = ran[0]?.outcome ?? null;
  if (last !== null && FAILURES.includes(last)) return last;
  if (occurrences.some(({ status }) => status === 'blocked')) return 'blocked';
  return SUCCESSES.find((outcome) => ran.some((occurrence) => occurrence.outcome === outcome)) ?? 'none';
}

/** Returns aggregate and verdict of an event into a node, or nulls while an emitter has not ended. */
export function verdictOf({ type, on, from }: EdgeGroup): { aggregate: Aggregate | null; verdict: Verdict | null } {
  if (!from.every(({ status }) => isTerminal(status))) return { aggregate: null, verdict: null };
  const aggregate = aggregateOf(from);
  if (type === 'sequence' || on === null) {
    // The first occurrence of an action is no event: it only holds up the second while it could still run.
    return {
      aggregate,
      verdict: from.some(({ status }) => status === 'blocked' || status === 'skipped') ? 'block' : 'quiet',
    };
  }
  return { aggregate, verdict: judge(aggregate, on) };
}

function judge(aggregate: Aggregate, on: Condition): Verdict {
  if (aggregate === 'skipped') return 'block';
  if (aggregate === 'none') return 'quiet';
  const needsSuccess = MATCHES[on].every(isSuccess);
  if (aggregate === 'blocked') return needsSuccess ? 'block' : 'quiet';
  if (MATCHES[on].some((outcome) => outcome === aggregate)) return 'fire';
  return needsSuccess && !isSuccess(aggregate) ? 'block' : 'quiet';
}
