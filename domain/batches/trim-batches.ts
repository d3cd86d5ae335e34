import { type CollectLimits, olderFirst, type UnsentBatch } from './join-batches.ts';

/**
 * Which unsent batches hold more than their configuration may collect now, and how many members each keeps: batches from before a
 * rollout, or from before its limits or the size of batches shrank, would never fit. The oldest keep theirs. What is let go is
 * collected anew.
 */
export function trimBatches(
  unsent: readonly UnsentBatch[],
  limitsOf: (configuration: string) => CollectLimits,
): { batch: string; keep: number }[] {
  const left = new Map<string, number>();
  const trimmed: { batch: string; keep: number }[] = [];
  for (const { id, configuration, members } of [...unsent].sort(olderFirst)) {
    const limits = limitsOf(configuration);
    const free = left.get(configuration) ?? limits.most ?? Number.POSITIVE_INFINITY;
    const keep = Math.min(members, limits.size, free);
    left.set(configuration, free - keep);
    if (keep < members) trimmed.push({ batch: id, keep });
  }
  return trimmed;
}
