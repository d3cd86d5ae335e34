import { CLUSTER_HOST } from '../../domain/engine/task-queues.ts';
import { musterError } from '../../domain/errors.ts';
import { isRunOver } from '../../domain/runs/run-states.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { insertAuditRow } from '../../store/audit/audit.ts';
import type { Db } from '../../store/connection/database.ts';
import type { ReadRun } from '../../store/runs/run-reads.ts';
import { findRun } from '../../store/runs/runs.ts';
import { getRun } from './read-run.ts';

/** What ends a run on its machine. */
export interface RunEngine {
  /** Starts the work that ends the run; one that goes on already is left alone. Throws what the engine throws. */
  end(run: { id: string; machine: string }): Promise<void>;
}

export interface EndRunDependencies {
  db: Db;
  runEngine: RunEngine;
  /** Who asks, kept with the record of it. */
  actor: string | null;
}

/** Owners whose runs are ended by a command of theirs, since another Temporal may have their work. */
const ENDED_BY_OWNER: Readonly<Record<string, string>> = { reconcile: './muster operator cancel' };

/**
 * Asks for the end of a run on its machine; its owner sees that the run ended and goes on by its own rules. Returns the run as it stands.
 * Throws `run_not_found`, `run_over`, `run_ends_with_owner`, `engine_unavailable`.
 */
export async function endRun({ db, runEngine, actor }: EndRunDependencies, id: string): Promise<ReadRun> {
  const run = await getRun(db, id);
  if (isRunOver(run.state)) {
    throw musterError(
      'run_over',
      `Run ${id} is over: ${run.state === 'lost' ? 'it was lost' : `it ended with status ${run.exitStatus}`}`,
    );
  }
  const command = commandOfOwner(run);
  if (command !== null) throw musterError('run_ends_with_owner', `Run ${id} is ended with its owner: \`${command}\``);
  try {
    await runEngine.end({ id, machine: run.machine });
  } catch (error) {
    const why = messageOf(error);
    throw musterError('engine_unavailable', `The workflow engine gave no answer for run ${id}: ${why}`);
  }
  await insertAuditRow(db, { actor, action: 'end', kind: 'run', name: id });
  return run;
}

/** The command that ends the owner of a run which cannot be ended alone; null for any other run. */
function commandOfOwner({ owner, ownerName, machine }: ReadRun): string | null {
  if (owner !== null && owner.kind in ENDED_BY_OWNER) return `${ENDED_BY_OWNER[owner.kind]} ${owner.id}`;
  return machine === CLUSTER_HOST ? `./muster session cancel ${ownerName ?? owner?.id ?? ''}`.trim() : null;
}

/**
 * Ends a run on this machine; the record decides, not what asks. A run that is over, or of another machine, is left alone.
 * Returns whether it was ended by this call.
 */
export async function endRunHere(
  { db, runner, hostId }: { db: Db; runner: { end(runId: string): Promise<void> }; hostId: string },
  id: string,
): Promise<boolean> {
  const run = await findRun(db, id);
  if (run === null || run.host !== hostId || isRunOver(run.state)) return false;
  await runner.end(id);
  return true;
}
