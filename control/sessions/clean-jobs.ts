import type { Kysely } from 'kysely';
import type { ClusterJobs, JobView } from '../../domain/sessions/cluster-job.ts';
import { isJobOver } from '../../domain/sessions/job-outcome.ts';
import { jobOwners, noteJobReleased, unreleasedJobs, hasUnsettledJobs as unsettled } from '../../store/session-jobs.ts';
import type { Database } from '../../store/tables.ts';
import { settleJob } from './record-job.ts';

export interface CleanJobsDependencies {
  db: Kysely<Database>;
  cluster: ClusterJobs;
}

export interface CleanJobsReport {
  /** Jobs that were ended because no session needs them. */
  ended: string[];
  /** What could not be done, for people; it is tried again by the next clean-up. */
  problems: string[];
}

/** How long the end of one Job is waited for; the next clean-up goes on. */
const END_PATIENCE = 10_000;

type Owner = NonNullable<Awaited<ReturnType<typeof jobOwners>> extends Map<string, infer Value> ? Value : never>;

/**
 * Brings the cluster in line with the records: Jobs of sessions that ended, were deleted or are not known are ended, and what
 * keeps Kubernetes from forgetting them is dropped. A Job of an ended session that is over stays until it is too old, or its
 * session is deleted. What fails does not keep the rest from it.
 */
export async function cleanJobs(deps: CleanJobsDependencies): Promise<CleanJobsReport> {
  const { db, cluster } = deps;
  const report: CleanJobsReport = { ended: [], problems: [] };
  const attempt = async (name: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      report.problems.push(`Job ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const waiting = await unreleasedJobs(db);
  // Jobs first, records second: what is made between the two looks has a record and is left alone.
  const jobs = await cluster.list();
  const owners = await jobOwners(
    db,
    jobs.map(({ name }) => name),
  );
  for (const view of jobs) {
    const owner = owners.get(view.name);
    if (owner?.open) continue;
    await attempt(view.name, async () => {
      if (await cleanJob(deps, view, owner)) report.ended.push(view.name);
    });
  }
  const there = new Set(jobs.map(({ name }) => name));
  for (const name of waiting) {
    // Whoever took away the Job may have left its pods, which keep Muster's finalizer.
    if (!there.has(name)) await attempt(name, () => endAndRelease(deps, name));
  }
  return report;
}

/** Whether a cluster has, or may have, Jobs that are not settled. */
export async function hasUnsettledJobs(db: Kysely<Database>): Promise<boolean> {
  return unsettled(db);
}

async function endAndRelease({ db, cluster }: CleanJobsDependencies, name: string): Promise<void> {
  const { unverified } = await cluster.end(name, END_PATIENCE);
  if (unverified !== null) throw new Error(`not verified: ${unverified}`);
  await cluster.release(name);
  await noteJobReleased(db, name, new Date());
}

/** Answers whether the Job was ended by this. */
async function cleanJob(
  { db, cluster }: CleanJobsDependencies,
  view: JobView,
  owner: Owner | undefined,
): Promise<boolean> {
  const wanted = owner !== undefined && !owner.deleted && isJobOver(view) && view.phase !== 'deleting';
  if (wanted && owner.released) return false;
  let ended = false;
  if (!wanted) {
    const { view: last, unverified } = await cluster.end(view.name, END_PATIENCE);
    if (owner !== undefined && !owner.ended) {
      const outcome = { succeeded: 'unknown', code: 'workflow_ended', message: 'nobody followed it any more' } as const;
      await settleJob(db, owner.sessionId, { view: last, outcome, unverified });
    }
    if (unverified !== null) throw new Error(`not verified: ${unverified}`);
    ended = true;
  }
  await cluster.release(view.name);
  await noteJobReleased(db, view.name, new Date());
  return ended;
}
