/** What executes actions: one handler for each word that a definition may give as its `handler`. */
import type { RecordedEnd } from '../../control/propagation/record-attempt.ts';
import { musterError } from '../../domain/errors.ts';
import type { Handler } from '../../domain/propagation/definition-schema.ts';
import type { RunSpec } from '../../domain/runs/runner.ts';
import type { AttemptRow, PlanNodeRow } from '../../store/propagation/plan-tables.ts';

/** What a handler knows of its actions. */
export interface ActionHandler {
  /** Writes what the run needs, and returns what is run. Asked for only while the run is not started; two watchers may ask at once. */
  prepare(attempt: AttemptRow, node: PlanNodeRow, runId: string): Promise<RunSpec>;
  /** Begins what is to go on while the run does; returns its stop. Each watcher of the run begins it anew. */
  whileRunning?(attempt: AttemptRow, node: PlanNodeRow, runId: string): () => Promise<void>;
  /** Returns the end of an attempt whose run has come to an end of its own. The signal means that another watcher takes over. */
  result(
    attempt: AttemptRow,
    node: PlanNodeRow,
    run: { id: string; exitCode: number },
    signal: AbortSignal,
  ): Promise<RecordedEnd>;
  /**
   * Ends what a run that was broken off has begun on other machines. Returns whether all of it was seen to be gone. Absent: a run begins
   * nothing there by itself. A run without an exit status was lost, perhaps with what it had noted.
   */
  endElsewhere?(
    attempt: AttemptRow,
    node: PlanNodeRow,
    run: { id: string; exitCode: number | null },
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Removes what the run needed. */
  clear(attempt: AttemptRow, runId: string): Promise<void>;
}

/** Handlers of this worker by name. `none` needs no run, and has none. */
export type ActionHandlers = Readonly<Partial<Record<Handler, ActionHandler>>>;

/** Returns the handler of a node. Throws `not_supported` for a handler that this worker does not have. */
export function handlerOf(handlers: ActionHandlers, { handler, id }: PlanNodeRow): ActionHandler {
  const found = handlers[handler];
  if (found === undefined) throw musterError('not_supported', `Handler ${handler} of node ${id} is not supported`);
  return found;
}
