import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { Kysely } from 'kysely';
import type { Options } from '../../domain/configurations/schema.ts';
import { admit, findSessionById, type SessionRow, writeProgress } from '../../store/session-engine.ts';
import type { Database } from '../../store/tables.ts';
import { wakeQueue } from './wake-queue.ts';

export interface AdmitDependencies {
  db: Kysely<Database>;
  client: Client;
  readOptions(): Promise<Options>;
  /** Free bytes of the data directory's disk, and how many there must be. */
  freeDisk(): Promise<number>;
  minFreeDisk: number;
}

export type AdmitAnswer =
  | { state: 'admitted'; session: SessionRow; options: Options }
  | { state: 'waiting'; message: string; retrySeconds: number }
  | { state: 'cancelled'; reason: string }
  | { state: 'over' };

/** A waiting session is woken when its turn comes; these are only for what nobody announces. */
const RETRY_SECONDS = 600;
const DISK_RETRY_SECONDS = 15;

/**
 * Lets a session in if it may: `running`, `job` and a slot of `max_running_sessions` are taken together, first come first
 * served, unless it was cancelled in line or the disk is nearly full. Repeating it for an admitted one changes nothing.
 */
export async function admitSession(deps: AdmitDependencies, sessionId: string): Promise<AdmitAnswer> {
  const { db } = deps;
  const session = await findSessionById(db, sessionId);
  if (session === null || session.stage === 'ended') return { state: 'over' };
  const options = await deps.readOptions();
  if (session.stage === 'queued') {
    if (session.status === 'complete') return { state: 'cancelled', reason: session.message };
    if (session.cancel_requested_at !== null) {
      return { state: 'cancelled', reason: session.cancel_reason ?? 'cancelled' };
    }
    const free = await deps.freeDisk();
    if (free < deps.minFreeDisk) {
      const mib = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MiB`;
      const message = `waiting for disk space: ${mib(free)} free, ${mib(deps.minFreeDisk)} needed (MUSTER_MIN_FREE)`;
      await writeProgress(db, sessionId, { phase: 'queued', message, reason: 'disk_low' });
      return { state: 'waiting', message, retrySeconds: DISK_RETRY_SECONDS };
    }
    const result = await admit(db, sessionId, `cfs-${randomUUID()}`, options.max_running_sessions);
    if (!result.admitted) {
      const message = `waiting for one of ${options.max_running_sessions} session slots (max_running_sessions)`;
      if (session.message !== message) await writeProgress(db, sessionId, { phase: 'queued', message });
      return { state: 'waiting', message, retrySeconds: RETRY_SECONDS };
    }
    if (result.free > 0) await wakeQueue(deps);
  }
  return { state: 'admitted', session, options };
}
