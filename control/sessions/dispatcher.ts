import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Kysely } from 'kysely';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import { type OutboxItem, postponeOutbox, removeFromOutbox, takeFromOutbox } from '../../store/outbox.ts';
import { findSessionById } from '../../store/session-engine.ts';
import type { Database } from '../../store/tables.ts';
import { cancelSession } from '../../workflows/sessions/messages.ts';
import type { Dispatcher } from './engine-port.ts';
import { startSessionWorkflow } from './start-workflow.ts';

export interface DispatcherOptions {
  db: Kysely<Database>;
  client: Client;
  log: { warn(fields: object, message: string): void };
  /** How often the outbox is looked at without a kick, in ms; default 1,000. */
  pollMs?: number;
  /** How long one delivery may take, in ms; default 10,000, and always less than the lease. */
  deliveryMs?: number;
}

/** Messages delivered at once. */
const WIDTH = 16;
/** A message that was taken is due again after this, should we die. */
const LEASE_SECONDS = 15;
const MAX_DELAY_SECONDS = 30;
/** Shorter than the lease, so that no other dispatcher takes a message that is being delivered. */
const DELIVERY_MS = 10_000;
/** An update waits for a live worker; a word that must wait is delivered again. */
const UPDATE_MS = 5_000;

/**
 * Delivers the outbox to Temporal: at once after a kick, and again and again until it is done. Several may run; each
 * message has one owner at a time, and delivering twice is harmless.
 */
export function createDispatcher({
  db,
  client,
  log,
  pollMs = 1_000,
  deliveryMs = DELIVERY_MS,
}: DispatcherOptions): Dispatcher & {
  stop(): Promise<void>;
} {
  let stopped = false;
  let kicked = false;
  let wake: () => void = () => undefined;

  const deliver = async (item: OutboxItem) => {
    try {
      const send = item.kind === 'start' ? start : cancel;
      await client.withDeadline(Date.now() + deliveryMs, () => send(db, client, item.sessionId));
      await removeFromOutbox(db, item.id);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.warn({ sessionId: item.sessionId, kind: item.kind, attempts: item.attempts, err: message }, 'not delivered');
      const delay = Math.min(MAX_DELAY_SECONDS, 2 ** Math.min(10, item.attempts) / 4);
      await postponeOutbox(db, item.id, delay, message).catch(() => undefined);
    }
  };

  const work = async () => {
    for (;;) {
      const items = await takeFromOutbox(db, WIDTH, LEASE_SECONDS);
      await Promise.all(items.map(deliver));
      if (items.length < WIDTH) return;
    }
  };

  const loop = async () => {
    while (!stopped) {
      kicked = false;
      await work().catch((error) => log.warn({ err: String(error) }, 'outbox not readable'));
      if (kicked || stopped) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };

  const running = loop();
  return {
    kick: () => {
      kicked = true;
      wake();
    },
    stop: async () => {
      stopped = true;
      wake();
      await running;
    },
  };
}

async function start(db: Kysely<Database>, client: Client, sessionId: string): Promise<void> {
  const session = await findSessionById(db, sessionId);
  if (session === null || session.stage === 'ended') return;
  await startSessionWorkflow(client, session);
}

/** A workflow that is not there (yet) needs no word: admission reads the request from the record. */
async function cancel(db: Kysely<Database>, client: Client, sessionId: string): Promise<void> {
  const session = await findSessionById(db, sessionId);
  if (session === null || session.stage === 'ended') return;
  const handle = client.workflow.getHandle(sessionWorkflowId(session));
  try {
    await client.withDeadline(Date.now() + UPDATE_MS, () =>
      handle.executeUpdate(cancelSession, { args: [{ reason: session.cancel_reason ?? 'cancelled' }] }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
