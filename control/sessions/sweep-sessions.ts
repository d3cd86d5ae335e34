import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import { releaseLeftLeases } from '../../store/components/leases.ts';
import type { Db } from '../../store/connection/database.ts';
import { forgetRunMachines, runMachines, SESSION_MACHINES } from '../../store/runs/run-machines.ts';
import { sessionHasRuns } from '../../store/runs/runs.ts';
import { addToOutbox, hasOutboxItem } from '../../store/sessions/outbox.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { forgetSessions, openSessions, unpurgedSessions } from '../../store/sessions/sweep.ts';
import { MACHINE_KNOWN_MS, MACHINE_SEEN_MS } from '../runs/announce-machine.ts';
import { askInTime, EXCHANGE_MS } from '../temporal/ask-in-time.ts';
import { endSession } from './end-session.ts';
import { purgeSession } from './purge-session.ts';
import { refreshLeaseWaits } from './reword-lease-waits.ts';
import { wakeLeaseWaiters } from './wake-lease-waiters.ts';
import { wakeQueue } from './wake-queue.ts';

/** A session this young may still be on its way to the engine. */
const SETTLE_MS = 20_000;
/** Sessions looked up at once, and how long one sweep goes on with them. */
const PURGES = 200;
const PURGE_MS = 60_000;
/** A deleted session is known by its id for so long: retries name it, and a machine that was away has files of it. */
const KNOWN_MS = 30 * 24 * 3_600_000;

/** A run of an ended session that its machine has not ended after so long keeps nobody off its components any more. */
const LEFT_MS = 15 * 60_000;

export interface SweepReport {
  /** Names of sessions that were started again, and that were ended. */
  restarted: string[];
  ended: string[];
  purged: number;
}

/**
 * Compares the two stores: an incomplete session without a workflow is started again if no run of it was ever started,
 * else it is ended as `unknown`; one whose workflow was ended from outside is ended too. Wakes the queue, and removes
 * what deleted sessions have left in the database. Repeating it is harmless.
 */
export async function sweepSessions(deps: { db: Db; client: Client; clock(): Date }): Promise<SweepReport> {
  const { db, client } = deps;
  const ago = (ms: number) => new Date(deps.clock().getTime() - ms);
  const report: SweepReport = { restarted: [], ended: [], purged: 0 };
  const candidates = await openSessions(db, ago(SETTLE_MS));
  const running = candidates.length > 0 ? await runningWorkflows(client) : new Set();
  for (const session of candidates) {
    if (running.has(sessionWorkflowId(session))) continue;
    const fate = await fateOf(client, session);
    if (fate === 'running') continue;
    if (fate === 'missing' && !(await sessionHasRuns(db, session.id))) {
      if (!(await hasOutboxItem(db, 'start', session.id))) {
        await addToOutbox(db, 'start', session.id);
        report.restarted.push(session.name);
      }
      continue;
    }
    const message =
      fate === 'missing'
        ? 'its workflow was lost after a run had been started; nobody knows how it ended'
        : `its workflow was ended from outside (${fate})`;
    await endSession(deps, session.id, { succeeded: 'unknown', message, reason: 'workflow_ended' });
    report.ended.push(session.name);
  }
  report.purged = await purge(deps, ago(KNOWN_MS));
  await forgetSessions(db, ago(KNOWN_MS));
  await releaseLeftLeases(db, ago(LEFT_MS));
  await wakeQueue(deps);
  await wakeLeaseWaiters(deps);
  await refreshLeaseWaits(db);
  return report;
}

/** Machines that are to clean up: those that have files of runs, or may have. */
export async function machinesToVisit({ db, clock }: { db: Db; clock(): Date }): Promise<string[]> {
  const ago = (ms: number) => new Date(clock().getTime() - ms);
  const machines = await runMachines(db, SESSION_MACHINES, ago(MACHINE_SEEN_MS));
  await forgetRunMachines(db, ago(MACHINE_KNOWN_MS));
  return machines;
}

/**
 * Removes events, output and results of deleted sessions, one session after the other: one alone may have a million. Those that have jobs at an image
 * service wait until these are gone, but not for ever: that service may be away.
 */
async function purge({ db, clock }: { db: Db; clock(): Date }, deletedBefore: Date): Promise<number> {
  const until = performance.now() + PURGE_MS;
  for (let purged = 0; ; ) {
    const sessions = await unpurgedSessions(db, PURGES, deletedBefore);
    for (const { id } of sessions) {
      if (performance.now() > until) return purged;
      await purgeSession(db, id, clock());
      purged += 1;
    }
    if (sessions.length < PURGES) return purged;
  }
}

/** Returns the ids of the session workflows that Temporal lists as open; the list may lag, so what is missing is asked for singly. */
async function runningWorkflows(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  const query = `WorkflowType = '${WORKFLOWS.session}' AND ExecutionStatus = 'Running'`;
  const listed = client.workflow.list({ query })[Symbol.asyncIterator]();
  for (;;) {
    // A page each: of very many workflows there are many, and each of them comes in time or Temporal is away.
    const next = await askInTime(client, EXCHANGE_MS, () => listed.next());
    if (next.done === true) return ids;
    ids.add(next.value.workflowId);
  }
}

async function fateOf(client: Client, session: SessionRow): Promise<string> {
  try {
    const workflow = client.workflow.getHandle(sessionWorkflowId(session));
    const { status } = await askInTime(client, EXCHANGE_MS, () => workflow.describe());
    return status.name.toLowerCase();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'missing';
    throw error;
  }
}
