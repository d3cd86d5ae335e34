/** What the end of an attempt makes of its node. */
import type { Outcome } from './event-schema.ts';
import type { NodeStatus } from './plan-schema.ts';
import { isSuccess } from './verdict.ts';

export interface EndedAttempt {
  outcome: Outcome;
  /** Whether its run was seen to be gone. */
  verified: boolean;
  /** Whether somebody has asked for its end. */
  endWanted: boolean;
}

export interface AttemptedNode {
  /** Attempts so far, this one among them, that the present budget pays for. */
  made: number;
  /** Further attempts after an end like this. */
  retry: number;
  /** A success of this node is the first of its resource. */
  creates: boolean;
  /** The plan is to end: nothing is tried again. */
  isStopping: boolean;
}

/** Returns how the node stands after an attempt. No further attempt follows a run that may still be at work. */
export function afterAttempt(
  { outcome, verified, endWanted }: EndedAttempt,
  { made, retry, creates, isStopping }: AttemptedNode,
): { status: Extract<NodeStatus, 'success' | 'error' | 'error_retry'>; outcome: Outcome } {
  if (isSuccess(outcome)) return { status: 'success', outcome: outcome === 'changed' && creates ? 'created' : outcome };
  const mayFollow = verified && !endWanted && !isStopping && made <= retry;
  return { status: mayFollow ? 'error_retry' : 'error', outcome };
}

/** Returns the outcome of a node that executes nothing: what its item would change counts as changed. */
export function outcomeOfIdle({ differs, creates }: { differs: boolean; creates: boolean }): Outcome {
  if (!differs) return 'ok';
  return creates ? 'created' : 'changed';
}

/** Time (s) that a machine may be away before an attempt without a time limit of its own is given up. */
const LONGEST_AWAY_SECONDS = 600;

/**
 * Whether an attempt is given up whose machine is away: when the timeout of its action is over, whose clock begins with the run; without a
 * timeout when the machine was away for too long.
 */
export function isGivenUp(
  { away_since, started_at }: { away_since: Date | null; started_at: Date | null },
  timeoutSeconds: number,
  now: Date,
): boolean {
  if (away_since === null) return false;
  const [since, seconds] =
    timeoutSeconds > 0 ? [started_at ?? away_since, timeoutSeconds] : [away_since, LONGEST_AWAY_SECONDS];
  return now.getTime() - since.getTime() >= seconds * 1_000;
}
