/** What workflows of this lane ask of their activities. */
import type {
  AdvancePlanInput,
  RepositoryRef,
  RunAttemptInput,
  SyncFailure,
  SyncRef,
} from '../../domain/propagation/activity-schema.ts';

export type { AdvancePlanInput, RunAttemptInput };

/** An attempt that is to be watched. */
export interface OpenAttempt {
  attempt: string;
  /** Queue of the machine that has its files; null while any machine may take it. */
  queue: string | null;
}

export interface AdvancePlanAnswer {
  /** The plan has ended, or is gone. */
  isOver: boolean;
  /** There is more to do at once. */
  more: boolean;
  attempts: OpenAttempt[];
  /** Time (ms) until the next step, if nothing is heard. */
  waitMs: number;
  /** A sentence for who looks at the workflow alone. */
  summary: string;
}

/** `elsewhere`: another machine has the files of the attempt, and is in its record. */
export type RunAttemptAnswer = 'ended' | 'elsewhere';

export interface PlanActivities {
  advancePlan(input: AdvancePlanInput): Promise<AdvancePlanAnswer>;
}

export interface AttemptActivities {
  /** Brings an attempt to its end, which stands in its record then. */
  runAttempt(input: RunAttemptInput): Promise<RunAttemptAnswer>;
}

export interface RepositoryActivities {
  /** Number of the sync that is to be made; null where none is wanted, or the repository is gone. */
  beginSync(input: RepositoryRef): Promise<{ sync: number | null }>;
  /** Takes in what the branch has now, and records it; `commit` is null where the sync was over already. */
  syncRepository(input: SyncRef): Promise<{ commit: string | null }>;
  /** Records that a sync has failed. */
  failSync(input: SyncFailure): Promise<void>;
}
