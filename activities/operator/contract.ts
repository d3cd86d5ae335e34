/** What the workflows of operators ask of their activities. */
import type { OperatorRef, ReconcileRef } from '../../domain/operator/activity-schema.ts';

/** Work that any process of the operator may do. */
export interface OperatorActivities {
  /** Begins reconciles as far as places are free. Returns after how long (ms) to look again. */
  dispatchReconciles(input: OperatorRef): Promise<{ nextMs: number }>;
  /** Writes status and finalizers, ends the record and sets the next time of the resource. */
  finishReconcile(input: ReconcileRef): Promise<void>;
}

/** Work of the machine that was chosen. */
export interface OperatorMachineActivities {
  /** Decides what the reconcile does, and makes ready what it runs. Returns whether it runs anything. */
  prepareReconcile(input: ReconcileRef): Promise<{ runs: boolean }>;
  /** Brings the run to its end and stores how it ended. */
  runReconcile(input: ReconcileRef): Promise<void>;
}
