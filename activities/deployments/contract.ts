/** What the workflows of AppContexts ask of their activities. */
import type { ContextRef, GroupRef, PhaseRef } from '../../domain/deployments/activity-schema.ts';
import type { Phase } from '../../domain/deployments/context-state.ts';

export type { ContextRef, GroupRef, PhaseRef };

export interface PhaseToRun {
  phase: Phase;
  /** Clusters with something left to do, `<provider>+<cluster>`, and the apps of each. */
  clusters: { cluster: string; apps: string[] }[];
  /** Clusters at work at once. */
  parallel: number;
  /** Queue of the work on groups; absent: that of the workflow, as releases before this queue have it. */
  queue?: string;
}

/** `away`: again after a wait, or when the cluster is heard of. */
export type GroupAnswer =
  | { is: 'ended' }
  | {
      is: 'away';
      waitMs: number;
      reason: string;
      message: string;
      /** A resource was done since the last wait. */
      hasMoved: boolean;
      /** The wait counts among the retries. */
      counts: boolean;
      /** The cluster answers, and waits for a place among those at work. */
      isBack?: true;
    };

export interface ContextActivities {
  /** Null: nothing is wanted. */
  beginPhase(input: ContextRef): Promise<PhaseToRun | null>;
  finishPhase(input: PhaseRef): Promise<void>;
  applyGroup(input: GroupRef): Promise<GroupAnswer>;
  deleteGroup(input: GroupRef): Promise<GroupAnswer>;
}
