import { setTimeout as pause } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import { type Db, isUndefinedTable } from '../../store/connection/database.ts';
import { type OutboxItem, postponeOutbox, removeFromOutbox, takeFromOutbox } from '../../store/sessions/outbox.ts';
import { findSessionsById, type SessionRow } from '../../store/sessions/sessions.ts';
import type { OutboxKind } from '../../store/sessions/tables.ts';
import { cancelSession } from '../../workflows/sessions/messages.ts';
import { deadlineIn } from '../temporal/deadline.ts';
import { engineSentence } from '../temporal/engine-sentence.ts';
import type { Dispatcher } from './engine-port.ts';
import { startSessionWorkflow } from './start-workflow.ts';

export interface DispatcherOptions {
  db: Db;
  client: Client;
  log: { warn(fields: object, message: string): void; info?(message: string): void };
  /** How often the outbox is looked at without a kick, in ms; default 1,000. */
  pollMs?: number;
  /** How long one delivery may take, in ms; default 10,000, and always less than the lease. */
  deliveryMs?: number;
  /** Does work as part of a trace, so that the workflow joins it; default: as part of none. */
  within?: <T>(trace: string | null, work: () => Promise<T>) => Promise<T>;
}

/** Messages delivered at once; starts and cancels do not hold each other up. */
const WIDTH = 16;
/**
 * Starts go one by one, with a pause between two, while none is older than this: in a burst each costs the engine and its
 * worker more than the request did, and the requests come first. One alone goes at once.
 */
const FRESH_SECONDS = 6;
const FRESH_PAUSE_MS = 40;
/** A message that was taken is due again after this, should we die. */
const LEASE_SECONDS = 15;
const MAX_DELAY_SECONDS = 30;
/** Shorter than the lease, so that no other dispatcher takes a message that is being delivered. */
const DELIVERY_MS = 10_000;
/** An update waits for a live worker; a word that must wait is delivered again. */
const UPDATE_MS = 5_000;

/**
 * Delivers the outbox to Temporal, starts and cancels each on their own: at once after a kick, and again and again until it
 * is done. Several may run; each message has one owner at a time, and delivering twice is harmless.
 */
export function createDispatcher({
  db,
  client,
  log,
  pollMs = 1_000,
  deliveryMs = DELIVERY_MS,
  within = (_trace, work) => work(),
}: DispatcherOptions): Dispatcher & {
  stop(): Promise<void>;
} {
  let stopped = false;
  const wakes = new Set<() => void>();

  /** Delivers one message; answers whether that worked. */
  const deliver = async (item: OutboxItem, session: SessionRow | undefined): Promise<boolean> => {
    // What has ended needs neither a start nor a word.
    if (session === undefined || session.stage === 'ended') return true;
    const send = item.kind === 'start' ? startSessionWorkflow : cancelWorkflow;
    try {
      await within(session.trace, () => client.withDeadline(deadlineIn(deliveryMs), () => send(client, session)));
      return true;
    } catch (error) {
      const message = engineSentence(error);
      log.warn({ sessionId: item.sessionId, kind: item.kind, attempts: item.attempts, err: message }, 'not delivered');
      const delay = Math.min(MAX_DELAY_SECONDS, 2 ** Math.min(10, item.attempts) / 4);
      await postponeOutbox(db, item.id, delay, message).catch(() => undefined);
      return false;
    }
  };

  const work = async (kind: OutboxKind) => {
    for (let overdue = false; ; ) {
      const width = kind === 'cancel' || overdue ? WIDTH : 1;
      const items = await takeFromOutbox(db, kind, width, LEASE_SECONDS);
      const ids = items.map(({ sessionId }) => sessionId);
      const sessions = new Map((await findSessionsById(db, ids)).map((session) => [session.id, session]));
      const delivered = await Promise.all(items.map((item) => deliver(item, sessions.get(item.sessionId))));
      const done = items.filter((_, index) => delivered[index]);
      await removeFromOutbox(
        db,
        done.map(({ id }) => id),
      );
      if (items.length < width || stopped) return;
      overdue = items.some(({ age }) => age > FRESH_SECONDS);
      if (kind === 'start' && !overdue) await pause(FRESH_PAUSE_MS);
    }
  };

  // At a first start the API is there before its tables are; said once, since it is no trouble.
  let waitsForTables = false;
  const loop = async (kind: OutboxKind) => {
    let kicked = false;
    let wake: () => void = () => undefined;
    wakes.add(() => {
      kicked = true;
      wake();
    });
    while (!stopped) {
      kicked = false;
      await work(kind).then(
        () => {
          waitsForTables = false;
        },
        (error: unknown) => {
          if (!isUndefinedTable(error)) return log.warn({ err: String(error) }, 'outbox not readable');
          if (!waitsForTables) log.info?.('waits for the migrations of the database');
          waitsForTables = true;
        },
      );
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

  const running = Promise.all([loop('start'), loop('cancel')]);
  const kick = () => {
    for (const wake of wakes) wake();
  };
  return {
    kick,
    stop: async () => {
      stopped = true;
      kick();
      await running;
    },
  };
}

/** A workflow that is not there (yet) needs no word: admission reads the request from the record. */
async function cancelWorkflow(client: Client, session: SessionRow): Promise<void> {
  const handle = client.workflow.getHandle(sessionWorkflowId(session));
  try {
    await client.withDeadline(deadlineIn(UPDATE_MS), () =>
      handle.executeUpdate(cancelSession, { args: [{ reason: session.cancel_reason ?? 'cancelled' }] }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
