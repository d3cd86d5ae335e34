/** How long a session's Job may go on without getting anywhere. */

import { waitedFor } from '../../../control/sessions/cluster/record-job.ts';
import type { JobTrouble, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { isLeftRunning, type JobOutcome } from '../../../domain/sessions/cluster/job-outcome.ts';
import type { Db } from '../../../store/connection/database.ts';
import { findOrder } from '../../../store/sessions/job-orders.ts';
import type { SessionJobRow } from '../../../store/sessions/session-jobs.ts';
import { preparedJob } from './prepared-job.ts';

export interface PatienceDependencies {
  db: Db;
  /** How long a pod may wait for cpu, memory or its containers, and for what can never be, ms. */
  patience: { waiting: number; impossible: number };
  /** Where pods reach Muster; undefined where no cluster is. */
  ingestUrl: string | undefined;
  clock(): Date;
}

/**
 * How long a Job goes on of which nothing more comes: a container may wait in vain for one that failed, the pod of a node that is away for
 * the node, and a proxy for nobody.
 */
const HOPELESS_PATIENCE = 15_000;

/** A pod that has cloned asks for its inventory at once; when it has not for so long, ms, or half its time, it is said that it is silent. */
const SILENCE = 60_000;

/** Since when this process has seen it so, ms; null: it is not so. */
export interface Since {
  hopeless: number | null;
}

/** ms that the Job may still go on like this; null: as long as it takes. */
export async function timeLeft(
  deps: PatienceDependencies,
  job: SessionJobRow,
  view: JobView,
  since: Since,
): Promise<number | null> {
  const now = deps.clock();
  const kind = view.trouble?.kind;
  // Its first containers may have begun, and one after them never can, or none of them reaches Muster.
  const waits = view.phase !== 'running' || kind === 'impossible' || (await isSilent(deps.db, job, view));
  // Between two pulls of an image nothing is the matter for a moment.
  const isImpossible = !waits || kind === 'waiting' ? false : kind === 'impossible' ? true : undefined;
  const waited = await waitedFor(deps.db, job.session_id, { waits, isImpossible }, now);
  since.hopeless = (await isHopeless(deps.db, job, view)) ? (since.hopeless ?? now.getTime()) : null;
  if (since.hopeless !== null) return Math.max(0, HOPELESS_PATIENCE - (now.getTime() - since.hopeless));
  if (!waits) return null;
  const left = deps.patience.waiting - waited.waiting;
  if (kind !== 'impossible') return Math.max(0, left);
  // From when it became so: before, it may have waited long for room.
  return Math.max(0, Math.min(left, deps.patience.impossible - waited.impossible));
}

/**
 * Whether nothing comes of it that parts of the Job go on: its pod was ended from outside, or a container that others wait for is
 * gone, be it the one that makes the inventory (cfs-flows 1.7) or, before its work is over, the one that runs the layers; or all that goes
 * on was put into the pod by a cluster.
 */
async function isHopeless(db: Db, job: SessionJobRow, view: JobView): Promise<boolean> {
  const hasFailed = (container: string) => {
    const exitCode = view.containers.find(({ name }) => name === container)?.exitCode ?? null;
    return exitCode !== null && exitCode !== 0;
  };
  if (view.trouble?.kind === 'over' || hasFailed('inventory') || isLeftRunning(view)) return true;
  if (job.profile === 'compatible' || !hasFailed('ansible')) return false;
  return (await findOrder(db, job.session_id))?.order.action !== 'finish';
}

/** What is wrong with a pod that runs and has not asked for anything; null: it has, or has only just begun. */
export async function troubleOfSilence(
  { db, clock, ingestUrl, patience }: PatienceDependencies,
  job: SessionJobRow,
  view: JobView,
): Promise<JobTrouble | null> {
  if (!(await isSilent(db, job, view))) return null;
  const { waiting } = await waitedFor(db, job.session_id, { waits: true }, clock());
  if (waiting < Math.min(SILENCE, patience.waiting / 2)) return null;
  const message = `its pod does not reach Muster at ${ingestUrl}, or Muster does not take it: its log says why`;
  return { code: 'pod_silent', kind: 'waiting', message };
}

/**
 * Whether the repositories are there, and nobody has asked for an inventory yet, or for what to run. That it is asked for may be lost, so an
 * inventory that was made counts as well, where nobody is to say more: a foreign `ansible` says nothing.
 */
async function isSilent(db: Db, job: SessionJobRow, { phase, containers }: JobView): Promise<boolean> {
  const exitCodeOf = (container: string) => containers.find(({ name }) => name === container)?.exitCode ?? null;
  if (phase !== 'running' || exitCodeOf('git-clone') !== 0) return false;
  if (job.profile === 'compatible' && exitCodeOf('inventory') !== null) return false;
  const { inventory, ansible } = (await preparedJob(db, job.session_id)).steps;
  return inventory === undefined && ansible === undefined;
}

/** The end of a Job that has waited for too long. */
export function waitedTooLong(trouble: JobTrouble | null): JobOutcome {
  const why = trouble?.message ?? 'its containers do not begin';
  return { succeeded: 'false', code: trouble?.code ?? 'run_not_started', message: `its pod waited too long: ${why}` };
}
