import type { Client } from '@temporalio/client';
import type { Kysely } from 'kysely';
import { storableText } from '../../domain/runs/storable-text.ts';
import { type SessionEnd, writeEnd } from '../../store/session-engine.ts';
import type { Database } from '../../store/tables.ts';
import { wakeLeaseWaiters } from './wake-lease-waiters.ts';
import { wakeQueue } from './wake-queue.ts';

/** Writes the end of a session once, gives its slot and its components back, and wakes who waits for them. */
export async function endSession(
  deps: { db: Kysely<Database>; client: Client },
  sessionId: string,
  end: SessionEnd,
): Promise<void> {
  await writeEnd(deps.db, sessionId, { ...end, message: storableText(end.message) });
  await wakeQueue(deps);
  await wakeLeaseWaiters(deps);
}
