import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Kysely } from 'kysely';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import { waitingForLeases } from '../../store/leases.ts';
import type { Database } from '../../store/tables.ts';
import { leasesFree } from '../../workflows/sessions/messages.ts';

/** Tells every session that waits for components to ask again, the oldest first. */
export async function wakeLeaseWaiters({ db, client }: { db: Kysely<Database>; client: Client }): Promise<void> {
  for (const session of await waitingForLeases(db)) {
    try {
      await client.workflow.getHandle(sessionWorkflowId(session)).signal(leasesFree);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
}
