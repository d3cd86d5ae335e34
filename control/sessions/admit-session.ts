import type { Client } from '@temporalio/client';
import type { Options } from '../../domain/configurations/schema.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { RunnerKind } from '../../domain/runs/runner.ts';
import type { RecordedEnd } from '../../domain/sessions/session-result.ts';
import { describeSlotWait } from '../../domain/sessions/slot-wait.ts';
import type { Db } from '../../store/connection/database.ts';
import { type AdmissionResult, admit, isWithdrawn } from '../../store/sessions/admission.ts';
import { findSessionById, type SessionRow } from '../../store/sessions/sessions.ts';
import { jobNameOf } from './cluster/job-name.ts';
import { recordedEnd } from './recorded-end.ts';
import { noteProgress } from './session-progress.ts';
import { wakeQueue } from './wake-queue.ts';

export interface AdmitDependencies {
  db: Db;
  client: Client;
  readOptions(): Promise<Options>;
  /** Free bytes of the data directory's disk, and how many there must be. */
  freeDisk(): Promise<number>;
  minFreeDisk: number;
  clock(): Date;
  /** Where layers run of sessions that do not say it themselves. */
  defaultRunner?: RunnerKind;
}

export type AdmitAnswer =
  | { state: 'admitted'; session: SessionRow; options: Options }
  | { state: 'waiting'; message: string; retrySeconds: number }
  | { state: 'cancelled'; reason: string }
  | { state: 'over'; end?: RecordedEnd };

/** A waiting session is woken when its turn comes; these are only for what nobody announces. */
const RETRY_SECONDS = 600;
const DISK_RETRY_SECONDS = 15;

/**
 * Lets a session in if it may: `running`, `job` and a slot of `max_running_sessions` are taken together, first come first
 * served, unless it was cancelled or the disk is nearly full. Repeating it for an admitted one changes nothing.
 */
export async function admitSession(deps: AdmitDependencies, sessionId: string): Promise<AdmitAnswer> {
  const { db } = deps;
  const [session, options] = await Promise.all([findSessionById(db, sessionId), deps.readOptions()]);
  if (session === null || isWithdrawn(session)) return withdrawn(db, session);
  const { max_running_sessions: limit } = options;
  const wait = async (message: string, reason: ErrorCode | null, retrySeconds: number): Promise<AdmitAnswer> => {
    if (session.message !== message) await noteProgress(deps, sessionId, { step: 'line', message, reason });
    return { state: 'waiting', message, retrySeconds };
  };
  if (session.stage === 'queued') {
    const free = await deps.freeDisk();
    if (free < deps.minFreeDisk) {
      const need = `${mib(free)} free, ${mib(deps.minFreeDisk)} needed (MUSTER_MIN_FREE)`;
      return wait(`waiting for disk space: ${need}`, 'disk_low', DISK_RETRY_SECONDS);
    }
  }
  const now = deps.clock();
  const { defaultRunner } = deps;
  const result = await admit(db, sessionId, {
    job: jobNameOf(sessionId, now),
    maxRunning: limit,
    now,
    defaultRunner,
  });
  if (result.state === 'withdrawn') return withdrawn(db, await findSessionById(db, sessionId));
  if (result.state === 'waiting') return wait(describeWait(limit, result, now), null, RETRY_SECONDS);
  // Also when it was let in before: the one who did may have died before it told the next in line.
  if (result.free > 0) await wakeQueue(deps);
  return { state: 'admitted', session, options };
}

async function withdrawn(db: Db, session: SessionRow | null): Promise<AdmitAnswer> {
  if (session === null || session.stage === 'ended') {
    const end = session && (await recordedEnd(db, session.id));
    return { state: 'over', ...(end === null ? {} : { end }) };
  }
  if (session.cancel_reason !== null) return { state: 'cancelled', reason: session.cancel_reason };
  return { state: 'cancelled', reason: session.deleted_at === null ? session.message : 'the session was deleted' };
}

function describeWait(limit: number, { free, taken }: Pick<AdmissionResult, 'free' | 'taken'>, now: Date): string {
  if (limit === 0) return 'waiting: max_running_sessions is 0, so no session is started';
  if (free > 0) return 'waiting for its turn: sessions that were made before it come first';
  // Who has them is told when it is read: they come and go, and a line of thousands asks once each.
  return describeSlotWait({ taken, limit, holders: [] }, now);
}

const mib = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB`;
