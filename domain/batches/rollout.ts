import type { Canary, RolloutPolicy } from '../configurations/schema.ts';
import { canariesDone, canariesLack, canariesNeeded } from './canary.ts';
import type { CollectLimits } from './join-batches.ts';
import type { RolloutCounts } from './rollout-counts.ts';

export const ROLLOUT_STAGES = ['canary', 'rolling'] as const;
export type RolloutStage = (typeof ROLLOUT_STAGES)[number];
/** `replaced`: the configuration desires something else, has no policy any more, or is gone. */
export const ROLLOUT_STATES = [...ROLLOUT_STAGES, 'stopped', 'done', 'replaced'] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];

export interface RolloutPosition {
  state: RolloutState;
  /** Which stage it is in, also while it is stopped or done. */
  stage: RolloutStage;
  reason: string | null;
}

/** What the batcher may do for a configuration now. */
export interface RolloutGate extends CollectLimits {
  /** Components that may start. */
  room: number;
  /** At the canaries: who they are. Null: all may start. */
  canary: Canary | null;
}

/** The position of a new rollout. */
export function firstPosition(policy: RolloutPolicy): RolloutPosition {
  const stage = policy.canary === undefined ? 'rolling' : 'canary';
  return { state: stage, stage, reason: null };
}

/**
 * Where a rollout is after a look at its counts. A component counts as failed while the last session that this rollout sent it
 * in has failed for it, whether it has tries left or not. No canary may fail; later more than `max_failed` stop the rollout.
 * Stopped stays stopped. At the canaries it says when there are too few. One that has nothing more to do is done, and goes on when something is pending again.
 */
export function advance(
  { state: before, stage: reached, reason }: RolloutPosition,
  policy: RolloutPolicy,
  counts: RolloutCounts,
): RolloutPosition {
  if (before === 'stopped' || before === 'replaced') return { state: before, stage: reached, reason };
  const failure = failureOf(reached, policy, counts);
  if (failure !== null) return { state: 'stopped', stage: reached, reason: failure };
  const { canary } = policy;
  const proven = canary === undefined || canariesDone(canary, counts) >= canariesNeeded(canary, counts);
  const stage = reached === 'canary' && !proven ? 'canary' : 'rolling';
  const state = counts.pending === 0 && counts.inSessions === 0 ? 'done' : stage;
  return { state, stage, reason: state === 'canary' && canary !== undefined ? canariesLack(canary, counts) : null };
}

/** Why the counts stop a rollout in this stage, or null. */
function failureOf(stage: RolloutStage, policy: RolloutPolicy, { components, failed }: RolloutCounts): string | null {
  if (stage === 'canary' && policy.canary !== undefined && failed > 0) {
    return `${componentsText(failed)} of the canary failed`;
  }
  const { max_failed: most } = policy;
  if (most === undefined) return null;
  const tooMany = typeof most === 'number' ? failed > most : failed * 100 > percentOf(most) * components;
  return tooMany ? `${componentsText(failed)} of ${components} failed, more than ${most}` : null;
}

function componentsText(count: number): string {
  return count === 1 ? '1 component' : `${count} components`;
}

/**
 * What the batcher may do for the configuration of a rollout. `max_at_once` counts all components of the configuration that are in
 * the batcher's sessions; its share is rounded down, but never below one. Batches are made as large as fits evenly, since a batch is
 * sent as a whole.
 */
export function gateOf(
  { state, stage }: RolloutPosition,
  policy: RolloutPolicy,
  counts: RolloutCounts,
  batchSize: number,
): RolloutGate {
  const limit = mostAtOnce(policy, counts.components);
  const free = Math.max(0, limit - counts.inSessions);
  const isOpen = state !== 'stopped' && state !== 'replaced';
  const largest = Math.min(batchSize, limit);
  if (stage === 'rolling' || policy.canary === undefined) {
    const size = limit >= counts.components ? largest : Math.floor(limit / Math.ceil(limit / largest));
    return { size, most: null, room: isOpen ? free : 0, canary: null };
  }
  const { canary } = policy;
  const needed = canariesNeeded(canary, counts);
  const left = Math.max(0, needed - canariesDone(canary, counts) - counts.trying);
  const size = Math.min(largest, left > 0 ? left : needed);
  return { size, most: left, room: isOpen ? Math.min(left, free) : 0, canary };
}

/** The gate of a configuration whose rollout has not begun: nothing is collected until it has. */
export const CLOSED_GATE: RolloutGate = { size: 1, most: 0, room: 0, canary: null };

function mostAtOnce({ max_at_once: most }: RolloutPolicy, components: number): number {
  if (most === undefined) return Number.POSITIVE_INFINITY;
  return typeof most === 'number' ? most : Math.max(1, Math.floor((percentOf(most) * components) / 100));
}

function percentOf(share: string): number {
  return Number(share.slice(0, -1));
}

/** The position after somebody resumed it: in the stage in which it stopped. */
export function resumed({ stage }: RolloutPosition): RolloutPosition {
  return { state: stage, stage, reason: null };
}
