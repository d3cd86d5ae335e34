import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Kysely } from 'kysely';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import { queueHead } from '../../store/session-engine.ts';
import type { Database } from '../../store/tables.ts';
import { slotFree } from '../../workflows/sessions/messages.ts';

/**
 * Tells the session that is next in line to ask for a slot; admitted, it tells the one after it. A workflow that is not
 * started yet asks by itself when it is.
 */
export async function wakeQueue({ db, client }: { db: Kysely<Database>; client: Client }): Promise<void> {
  const head = await queueHead(db);
  if (head === null) return;
  try {
    await client.workflow.getHandle(sessionWorkflowId(head)).signal(slotFree);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
