/** The log of a runner that hands in nothing by itself (profile `compatible`), read from its pod as the output of one run. */
import { setTimeout as delay } from 'node:timers/promises';
import { failureOf } from '../../../control/failures.ts';
import { closeRun, RunOvertaken, shipBatch } from '../../../control/runs/follow-run.ts';
import { openRun } from '../../../control/runs/open-run.ts';
import { type NoteDependencies, noteWarnings } from '../../../control/sessions/session-progress.ts';
import { CLUSTER_HOST } from '../../../domain/engine/task-queues.ts';
import { storableText } from '../../../domain/runs/storable-text.ts';
import { textChunkLength } from '../../../domain/runs/text-chunk.ts';
import type { ClusterJobs, JobView } from '../../../domain/sessions/cluster/cluster-job.ts';
import { runIdOf } from '../../../domain/sessions/run-id.ts';
import { messageOf } from '../../../domain/text/message-of.ts';
import type { Db } from '../../../store/connection/database.ts';
import { findRun } from '../../../store/runs/runs.ts';
import type { SessionJobRow } from '../../../store/sessions/session-jobs.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { lastingSecrets, type SecretDependencies } from './job-secret.ts';

export interface ForeignLogDependencies extends SecretDependencies {
  db: Db;
  clock(): Date;
  cluster: Pick<ClusterJobs, 'followLog'>;
  /** Largest kept log in bytes. */
  logMaxBytes: number;
}

/** Between two attempts to read what is to be hidden in a log, ms. */
const SECRETS_PAUSE = 500;
/** Before a log is gone on with, ms. */
const AGAIN_PAUSE = 500;

export interface FollowedLog {
  runId: string;
  /** When all is stored that stood in it at the beginning; never fails. Known of one that `yields` alone. */
  current: Promise<void>;
  /** Never fails: what is wrong with the log is told as a warning. */
  done: Promise<void>;
}

/**
 * Follows the log from where it was stored to until its container has ended, it is full, or `signal`; with `yields` also until it shows that
 * somebody else follows it.
 */
export function followForeignLog(
  deps: ForeignLogDependencies,
  job: SessionJobRow,
  session: SessionRow,
  signal: AbortSignal,
  yields = false,
): FollowedLog {
  const { db, cluster, logMaxBytes } = deps;
  const { snapshot } = session;
  const { session_id: sessionId, name } = job;
  const layer = snapshot.layers[0]?.index ?? 0;
  const runId = runIdOf(sessionId, 1, layer);
  const current = Promise.withResolvers<void>();
  /** Answers whether it is over; else something came between, and it goes on from what is stored. */
  const ship = async (): Promise<boolean> => {
    const place = { id: runId, sessionId, streamId: sessionId, layer, attempt: 1, host: CLUSTER_HOST };
    const run = await openRun(db, place, deps.clock());
    let { cursor } = run;
    if (cursor.outputBytes > logMaxBytes) return true;
    const full = new AbortController();
    const reading = {
      from: cursor.outputBytes,
      secrets: await secretsToHide(deps, session, signal),
      areAll: deps.tenantVault === undefined || snapshot.tenant_name === undefined,
      ...(yields ? { onCurrent: current.resolve } : {}),
    };
    await cluster.followLog(
      name,
      'ansible',
      reading,
      async ({ start, end, text }) => {
        if (full.signal.aborted) return;
        const kept = end <= logMaxBytes ? text : headOf(text, logMaxBytes - start) + cutNote(logMaxBytes);
        const next = { ...cursor, outputBytes: end };
        await shipBatch(
          db,
          run,
          cursor,
          { events: [], output: { start, text: storableText(kept) }, cursor: next },
          deps.clock(),
        );
        cursor = next;
        if (end > logMaxBytes) full.abort();
      },
      AbortSignal.any([signal, full.signal]),
    );
    if (full.signal.aborted) await warn(deps, sessionId, `it is kept up to ${logMaxBytes} bytes (MUSTER_LOG_MAX)`);
    return true;
  };
  const shipAll = async () => {
    const goesOn = (error: unknown) => !(yields && error instanceof RunOvertaken) && passes(error);
    while (!(await ship().catch((error) => (goesOn(error) ? false : Promise.reject(error))))) {
      await delay(AGAIN_PAUSE, undefined, { signal });
    }
  };
  const done = shipAll()
    .catch(async (error: unknown) => {
      if (signal.aborted || (yields && error instanceof RunOvertaken)) return;
      const words = messageOf(error);
      await warn(deps, sessionId, words).catch(() => undefined);
    })
    .finally(current.resolve);
  return { runId, current: current.promise, done };
}

/** Whether what another worker that follows the same log, or an absent database, has broken off may be gone on with. */
function passes(error: unknown): boolean {
  return error instanceof RunOvertaken || failureOf(error).code === 'storage_unavailable';
}

/**
 * Waits for the rest of the log, says so when it does not come within `patienceMs`, and ends its run as its container did. Rejects with
 * `signal`: then the log was not read to its end either, and the next try goes on with it.
 */
export async function closeForeignLog(
  deps: NoteDependencies,
  sessionId: string,
  { runId, done }: FollowedLog,
  view: JobView,
  patienceMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const { db, clock } = deps;
  const over = new AbortController();
  const isWhole = await Promise.race([done.then(() => true), delay(patienceMs, false, { signal: over.signal })]);
  over.abort();
  signal?.throwIfAborted();
  if (!isWhole) await warn(deps, sessionId, `its end was not there ${patienceMs / 1000} s after the Job's`);
  const run = await findRun(db, runId);
  if (run === null) return;
  const code = view.containers.find(({ name }) => name === 'ansible')?.exitCode ?? null;
  const now = clock();
  const exit = code === null ? null : { code, signal: null, ended_at: now.toISOString() };
  await closeRun(db, run, { exit, results: null, warnings: [] }, now);
}

async function warn(deps: NoteDependencies, sessionId: string, why: string): Promise<void> {
  await noteWarnings(deps, sessionId, [`the log of the Job is not complete: ${why}`]);
}

/** Whole lines of a text, or what there is of the first one, in so many bytes. */
function headOf(text: string, room: number): string {
  const bytes = Buffer.from(text, 'utf8').subarray(0, room);
  return bytes.subarray(0, textChunkLength(bytes, false)).toString('utf8');
}

function cutNote(logMaxBytes: number): string {
  const limit = `the log of a run is kept up to ${logMaxBytes} bytes (MUSTER_LOG_MAX)`;
  return `\n[muster] all output from here on was left out: ${limit}\n`;
}

/** Nothing of a log may be told without them, so they are asked for until they are there. */
async function secretsToHide(
  deps: ForeignLogDependencies,
  session: SessionRow,
  signal: AbortSignal,
): Promise<string[]> {
  for (;;) {
    const secrets = await lastingSecrets(deps, session).catch(() => null);
    if (secrets !== null) return secrets;
    await delay(SECRETS_PAUSE, undefined, { signal });
  }
}
