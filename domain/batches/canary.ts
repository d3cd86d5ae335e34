/** Who goes first in a rollout: which components, how many of them, and whether there are enough. */
import type { Canary } from '../configurations/schema.ts';
import type { RolloutCounts } from './rollout-counts.ts';

/** Whether the policy says which components are canaries, and not only how many. */
export function isChosen(canary: Canary): canary is Exclude<Canary, number> {
  return typeof canary !== 'number';
}

/** How many canaries must be configured. Without a number all that are chosen: of ids as many as are named, else one at least. */
export function canariesNeeded(canary: Canary, { canaries }: Pick<RolloutCounts, 'canaries'>): number {
  if (!isChosen(canary)) return canary;
  return canary.count ?? canary.ids?.length ?? Math.max(1, canaries.configured + canaries.able);
}

/** How many are. A chosen one that somebody else has configured counts; without a choice those that the rollout has sent do. */
export function canariesDone(canary: Canary, { canaries, done }: Pick<RolloutCounts, 'canaries' | 'done'>): number {
  return isChosen(canary) ? canaries.configured : done;
}

/** Why the rollout waits for more canaries than there can be, or null when there are enough. */
export function canariesLack(canary: Canary, counts: Pick<RolloutCounts, 'canaries' | 'done'>): string | null {
  const needed = canariesNeeded(canary, counts);
  const there = canariesDone(canary, counts) + counts.canaries.able;
  if (there >= needed) return null;
  const most = needed === 1 ? '1 canary is needed' : `${needed} canaries are needed`;
  return `waits: ${most}, ${there} can be (${othersText(canary)})`;
}

function othersText(canary: Canary): string {
  if (!isChosen(canary)) return 'a component that has errors or failed last is none';
  if (canary.ids !== undefined)
    return 'of those that are named, the others are disabled, gone, elsewhere or out of tries';
  return 'of those that are chosen; one that is disabled, has errors or failed last is none';
}
