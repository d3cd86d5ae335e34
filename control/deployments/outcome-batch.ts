/** Outcomes of the resources of a group, written some at a time: those of all groups of an AppContext wait for each other's commits. */
import {
  type KnownOutcome,
  noteCallEnded,
  noteOutcomes,
  type Outcome,
  type PhaseGroup,
} from '../../store/deployments/context-resources.ts';
import type { GroupDependencies } from './group-work.ts';
import { createSeenBatch, type SeenBatchLimits } from './seen-batch.ts';

const LIMITS: SeenBatchLimits = { most: 20, restMs: 200, stormMs: 200 };

export interface OutcomeBatch {
  /** Takes the outcome of a resource. What a crash loses here is found out again: the apply was noted before, and a deletion is repeated. */
  add(key: string, outcome: Outcome): Promise<void>;
}

/**
 * Does work on a group, and writes its outcomes before it returns. That an apply has had its answer is written also where another phase is wanted
 * by now. Throws what the work or a write throws.
 */
export async function withOutcomes<Result>(
  { db, clock }: Pick<GroupDependencies, 'db' | 'clock'>,
  group: PhaseGroup,
  work: (outcomes: OutcomeBatch) => Promise<Result>,
): Promise<Result> {
  const batch = createSeenBatch<KnownOutcome>(async (outcomes) => {
    const written = new Set(await noteOutcomes(db, group, outcomes));
    for (const { key, answered } of outcomes)
      if (answered !== undefined && !written.has(key)) await noteCallEnded(db, group, key, answered);
  }, LIMITS);
  const add: OutcomeBatch['add'] = (key, outcome) => batch.add(key, { ...outcome, key, at: clock() });
  try {
    const result = await work({ add });
    await batch.flush();
    return result;
  } catch (error) {
    await batch.flush().catch(() => undefined);
    throw error;
  } finally {
    batch.close();
  }
}
