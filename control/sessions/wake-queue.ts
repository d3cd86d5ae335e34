import type { Client } from '@temporalio/client';
import type { Db } from '../../store/connection/database.ts';
import { queueHead } from '../../store/sessions/admission.ts';
import { slotFree } from '../../workflows/sessions/messages.ts';
import { signalSession } from './signal-session.ts';

/**
 * Tells the session that is next in line to ask for a slot; admitted, it tells the one after it. A workflow that is not
 * started yet asks by itself when it is.
 */
export async function wakeQueue({ db, client }: { db: Db; client: Client }): Promise<void> {
  const head = await queueHead(db);
  if (head !== null) await signalSession(client, head, slotFree);
}
