/** Whether what the engine asks to have ended or removed may be: the records decide, not who asks. */
import type { Client } from '@temporalio/client';
import type { Options } from '../../../domain/configurations/schema.ts';
import { musterError } from '../../../domain/errors.ts';
import type { Runner } from '../../../domain/runs/runner.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import type { Db } from '../../../store/connection/database.ts';
import { openSessionRuns } from '../../../store/runs/runs.ts';
import { isWithdrawn } from '../../../store/sessions/admission.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';

/** Clocks of worker, database and engine may differ by this, ms. */
const CLOCKS_MS = 10_000;

export interface OrderDependencies {
  db: Db;
  clock(): Date;
  client: Client;
  readOptions(): Promise<Pick<Options, 'session_timeout'>>;
}

/**
 * Throws unless somebody has ended the session of a run: by the API, by its time limit, in Temporal, or because it is over.
 * @param timeoutSeconds the session's time limit, where that is given as the reason
 * @throws `session_not_complete` for a session that is to go on
 */
export async function checkRunMayEnd(
  { client, readOptions, clock }: Omit<OrderDependencies, 'db'>,
  session: SessionRow,
  timeoutSeconds?: number,
): Promise<void> {
  if (isWithdrawn(session)) return;
  // A worker of before names no limit.
  if (isOverdue(session, timeoutSeconds ?? (await readOptions()).session_timeout, clock())) return;
  // Not in the record: who cancels in Temporal's web UI tells the engine alone.
  const { raw } = await client.workflow.getHandle(sessionWorkflowId(session)).describe();
  if (raw.workflowExtendedInfo?.cancelRequested) return;
  throw musterError('session_not_complete', `Session ${session.name} is not cancelled: none of its runs is ended`);
}

function isOverdue({ admitted_at: admitted }: SessionRow, timeoutSeconds: number, now: Date): boolean {
  if (admitted === null || timeoutSeconds === 0) return false;
  return now.getTime() + CLOCKS_MS >= admitted.getTime() + timeoutSeconds * 1_000;
}

/**
 * Throws while a run of the session works in its workspace.
 * @throws `session_not_complete` while a process of it is there
 */
export async function checkWorkspaceMayGo(
  { db, runner }: { db: Db; runner: Pick<Runner, 'live'> },
  session: SessionRow,
): Promise<void> {
  const open = await openSessionRuns(db, session.id);
  if (open.length === 0) return;
  const live = new Set(await runner.live());
  const working = open.find(({ id }) => live.has(id));
  if (working === undefined) return;
  throw musterError('session_not_complete', `Session ${session.name} works: run ${working.id} is in its workspace`);
}
