import { CLUSTER_HOST } from '../../domain/engine/task-queues.ts';
import { musterError } from '../../domain/errors.ts';
import { isRunOver } from '../../domain/runs/run-states.ts';
import { insertAuditRow } from '../../store/audit/audit.ts';
import type { Db } from '../../store/connection/database.ts';
import { forgetRunEndRequest, requestRunEnd, runsToEnd } from '../../store/runs/run-ends.ts';
import type { ReadRun } from '../../store/runs/run-reads.ts';
import { findRun } from '../../store/runs/runs.ts';
import type { Tell } from '../temporal/tell.ts';
import { MACHINE_SEEN_MS } from './announce-machine.ts';
import { getRun } from './read-run.ts';
import { wantedRunEnd } from './wanted-run-end.ts';

export interface EndRunDependencies {
  db: Db;
  tell: Tell;
  clock(): Date;
  /** Who asks, kept with the record of it. */
  actor: string | null;
}

/** Owners whose runs are ended by a command of theirs, since another Temporal may have their work. */
const ENDED_BY_OWNER: Readonly<Record<string, string>> = { reconcile: './muster operator cancel' };

/**
 * Asks for the end of a run on its machine; its owner sees that the run ended and goes on by its own rules. Returns the run as it stands.
 * Throws `run_not_found`, `run_over`, `run_ends_with_owner`.
 */
export async function endRun({ db, tell, clock, actor }: EndRunDependencies, id: string): Promise<ReadRun> {
  const run = await getRun(db, id);
  if (isRunOver(run.state)) throw runOver(run);
  const command = commandOfOwner(run);
  if (command !== null) throw musterError('run_ends_with_owner', `Run ${id} is ended with its owner: \`${command}\``);
  await db.transaction().execute(async (trx) => {
    // It may have ended, or been forgotten, meanwhile.
    if (!(await requestRunEnd(trx, id, clock()))) throw runOver(await getRun(trx, id));
    await insertAuditRow(trx, { actor, action: 'end', kind: 'run', name: id });
  });
  await tell([wantedRunEnd(run)]);
  return run;
}

/** An end that was asked for so recently (ms) may be on its way to Temporal. */
const SETTLE_MS = 20_000;
/** Ends that one sweep asks for. */
const ENDS = 200;

/** Tells Temporal again of runs that are to end, on machines that are there. */
export async function sweepRunEnds({ db, tell, clock }: Omit<EndRunDependencies, 'actor'>): Promise<void> {
  const now = clock().getTime();
  const requestedBefore = new Date(now - SETTLE_MS);
  const runs = await runsToEnd(db, { requestedBefore, seenAfter: new Date(now - MACHINE_SEEN_MS), limit: ENDS });
  await tell(runs.map(wantedRunEnd));
}

function runOver({ id, state, exitStatus }: ReadRun) {
  const how = state === 'lost' ? 'it was lost' : `it ended with status ${exitStatus}`;
  return musterError('run_over', `Run ${id} is over: ${how}`);
}

/** The command that ends the owner of a run which cannot be ended alone; null for any other run. */
function commandOfOwner({ owner, ownerName, machine }: ReadRun): string | null {
  if (owner !== null && owner.kind in ENDED_BY_OWNER) return `${ENDED_BY_OWNER[owner.kind]} ${owner.id}`;
  return machine === CLUSTER_HOST ? `./muster session cancel ${ownerName ?? owner?.id ?? ''}`.trim() : null;
}

/**
 * Ends a run on this machine; the record decides, not what asks. A run that is over, or of another machine, is left alone. The wish is
 * fulfilled then: the end follows in the record once the files of the run are read. Returns whether it was ended by this call.
 */
export async function endRunHere(
  { db, runner, hostId }: { db: Db; runner: { end(runId: string): Promise<void> }; hostId: string },
  id: string,
): Promise<boolean> {
  const run = await findRun(db, id);
  if (run === null || run.host !== hostId || isRunOver(run.state)) return false;
  await runner.end(id);
  await forgetRunEndRequest(db, id);
  return true;
}
