import type { ClusterJobs, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { isJobOver, type JobOutcome, jobOutcome } from '../../../domain/sessions/cluster/job-outcome.ts';
import { messageOf } from '../../../domain/text/message-of.ts';
import type { Db } from '../../../store/connection/database.ts';
import {
  findSessionJob,
  type JobOwner,
  jobOwners,
  noteJobReleased,
  unreleasedJobs,
} from '../../../store/sessions/session-jobs.ts';
import { atOnce } from '../../changes/at-once.ts';
import { settleJob } from './record-job.ts';

export interface CleanJobsDependencies {
  db: Db;
  clock(): Date;
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
/** Jobs that are worked on at once. */
const AT_ONCE = 8;
/** How long one clean-up takes up more Jobs, ms: on a node that is lost each takes all its patience, every time. */
const BUDGET_MS = 120_000;

const UNFOLLOWED: JobOutcome = {
  succeeded: 'unknown',
  code: 'workflow_ended',
  message: 'nobody followed it any more',
};

interface Task {
  name: string;
  owner: JobOwner | undefined;
  work: () => Promise<void>;
}

/**
 * Brings the cluster in line with the records: Jobs of sessions that ended, were deleted or are not known are ended, and what
 * keeps Kubernetes from forgetting them is dropped. How a Job ended is stored before that, should nobody have. A Job of an ended
 * session that is over stays until it is too old, or its session is deleted. What fails does not keep the rest from it; what is
 * not taken up within `budgetMs` is left to the next clean-up.
 */
export async function cleanJobs(deps: CleanJobsDependencies, budgetMs = BUDGET_MS): Promise<CleanJobsReport> {
  const { db, cluster } = deps;
  const report: CleanJobsReport = { ended: [], problems: [] };
  const waiting = await unreleasedJobs(db);
  // Jobs first, records second: what is made between the two looks has a record and is left alone.
  const listed = await cluster.list();
  const owners = await jobOwners(db, [...new Set([...listed.map(({ name }) => name), ...waiting])]);
  // What somebody else has made under the name of a session's Job is left alone.
  const jobs = listed.filter(({ name, sessionId }) => {
    const owner = owners.get(name);
    return owner === undefined || sessionId === '' || sessionId === owner.sessionId;
  });
  const there = new Set(jobs.map(({ name }) => name));
  // Whoever took away a Job may have left its pods, which keep Muster's finalizer.
  const left = waiting.filter((name) => !there.has(name));
  const tasks: Task[] = [];
  for (const view of jobs) {
    const owner = owners.get(view.name);
    if (owner?.open) continue;
    const work = async () => {
      if (view.phase === 'gone') await endAndRelease(deps, view.name, owner, owner?.begun);
      else if (await cleanJob(deps, view, owner)) report.ended.push(view.name);
    };
    tasks.push({ name: view.name, owner, work });
  }
  for (const name of left) {
    const owner = owners.get(name);
    const work = async () => {
      const view = await cluster.view(name);
      // Let go between the two looks by whoever followed it: like any other that is over it stays until it is too old.
      const isLetGo = ['complete', 'failed'].includes(view.phase) && view.sessionId === owner?.sessionId;
      if (!isLetGo) await endAndRelease(deps, name, owner, owner?.begun);
      else if (await cleanJob(deps, view, owner)) report.ended.push(name);
    };
    tasks.push({ name, owner, work });
  }
  await workOff(fairly(tasks), budgetMs, report.problems);
  return report;
}

/** What was tried in vain before, and may be again, comes last; by chance among its like, so that each gets its turn. */
function fairly(tasks: readonly Task[]): Task[] {
  const rank = ({ owner }: Task) => (owner === undefined || owner.unverified ? 1 : 0) + Math.random();
  return tasks
    .map((task) => ({ task, at: rank(task) }))
    .sort((one, other) => one.at - other.at)
    .map(({ task }) => task);
}

async function workOff(tasks: readonly Task[], budgetMs: number, problems: string[]): Promise<void> {
  const until = performance.now() + budgetMs;
  const workOn = async ({ name, work }: Task) => {
    await work().catch((error: unknown) => problems.push(`Job ${name}: ${messageOf(error)}`));
  };
  const left = await atOnce(AT_ONCE, tasks, workOn, () => performance.now() < until);
  if (left > 0) problems.push(`${left} Jobs are left to the next clean-up`);
}

/** Ends what there is of a Job, stores that end where there was one, should nobody have, and lets Kubernetes forget it. */
async function endAndRelease(
  { db, cluster, clock }: CleanJobsDependencies,
  name: string,
  owner: JobOwner | undefined,
  wasThere = true,
): Promise<void> {
  const { view, unverified } = await cluster.end(name, END_PATIENCE, owner?.sessionId);
  if (owner !== undefined && wasThere)
    await settleJob(db, owner.sessionId, { view, outcome: UNFOLLOWED, unverified }, clock());
  if (unverified !== null) throw new Error(`not verified: ${unverified}`);
  await release({ db, cluster, clock }, name, owner);
}

/** Answers whether the Job was ended by this. */
async function cleanJob(deps: CleanJobsDependencies, view: JobView, owner: JobOwner | undefined): Promise<boolean> {
  const { db, cluster } = deps;
  const { name } = view;
  const wanted = owner !== undefined && !owner.deleted && isJobOver(view) && view.phase !== 'deleting';
  if (!wanted) {
    await endAndRelease(deps, name, owner);
    return true;
  }
  if (owner.released && owner.ended) return false;
  // The list knows nothing of pods, whose exit codes go with the finalizers.
  const last = owner.ended && !owner.unverified ? view : await cluster.view(name);
  const steps = (await findSessionJob(db, owner.sessionId))?.steps ?? {};
  await settleJob(
    db,
    owner.sessionId,
    { view: last, outcome: jobOutcome(last, steps), unverified: null },
    deps.clock(),
  );
  await release(deps, name, owner);
  return false;
}

async function release(
  { db, cluster, clock }: CleanJobsDependencies,
  name: string,
  owner: JobOwner | undefined,
): Promise<void> {
  await cluster.release(name, owner?.sessionId);
  await noteJobReleased(db, name, clock());
}
