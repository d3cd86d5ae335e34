import type { ErrorCode } from '../errors.ts';
import type { SessionStatus, Succeeded } from '../sessions/schema.ts';

/** Times of a sent batch, in milliseconds. */
export interface SentTimes {
  sentAt: number;
  /** Last instant at which its session was seen waiting for admission, or null: waiting is not a failure. */
  waitedUntil: number | null;
}

/** What is known of a batch's session now. */
export interface SessionFacts {
  status: SessionStatus;
  succeeded: Succeeded;
  /** Whether it waits for admission: no free slot, others before it, or no room on the disk. */
  waiting: boolean;
  /** The code with which it ended for a fault of the controller, or null (see controller-fault.ts). */
  fault: ErrorCode | null;
}

/**
 * What a batch's session means for the batch: `follow` it further; `succeeded` and `failed` end the batch with the handling of its
 * members; `controller` ends it without a word about its members, and holds its key; `gone` and `overdue` end it as a failure that
 * writes nothing, an overdue session is deleted first.
 */
export type SessionVerdict = 'follow' | 'succeeded' | 'failed' | 'controller' | 'gone' | 'overdue';

/** The verdict on a batch's session, `null` when it does not exist any more (cfs-flows 5.2.a). `timeout` in seconds. */
export function judgeSession(
  batch: SentTimes,
  session: SessionFacts | null,
  now: number,
  timeout: number,
): SessionVerdict {
  if (session === null) return 'gone';
  if (session.fault !== null) return 'controller';
  if (session.succeeded === 'false' || session.succeeded === 'unknown') return 'failed';
  if (session.status === 'complete') return 'succeeded';
  if (session.status === 'pending' && !session.waiting && now >= overdueAt(batch, timeout)) return 'overdue';
  return 'follow';
}

/** The first millisecond at which a session that is still pending has been so for longer than the time-out (strictly). */
export function overdueAt(batch: SentTimes, timeout: number): number {
  return Math.max(batch.sentAt, batch.waitedUntil ?? 0) + timeout * 1000 + 1;
}
