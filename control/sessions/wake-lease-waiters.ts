import type { Client } from '@temporalio/client';
import { freedLeaseWaiters, waitingForLeases } from '../../store/components/leases.ts';
import type { Db } from '../../store/connection/database.ts';
import { leasesFree } from '../../workflows/sessions/messages.ts';
import { signalSession } from './signal-session.ts';

interface WakeDependencies {
  db: Db;
  client: Client;
}

/**
 * Tells the sessions that nobody keeps from their components any more to ask again, the oldest first. Those for which nothing has changed are
 * left alone: each word makes their histories longer, and a workflow takes only so many.
 */
export async function wakeLeaseWaiters({ db, client }: WakeDependencies): Promise<void> {
  for (const session of await freedLeaseWaiters(db)) await signalSession(client, session, leasesFree);
}

/** Tells every session that waits for components to ask again: what it waits for may not count any more. */
export async function wakeAllLeaseWaiters({ db, client }: WakeDependencies): Promise<void> {
  for (const session of await waitingForLeases(db)) await signalSession(client, session, leasesFree);
}
