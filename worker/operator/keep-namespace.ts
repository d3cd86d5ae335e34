import type { Connection } from '@temporalio/client';
import { ensureNamespace } from '../../control/temporal/ensure-namespace.ts';
import { again } from '../again.ts';
import { keepRunning } from '../keep-running.ts';

/** Workflows that are over are kept so long. */
const RETENTION_DAYS = 3;
/** A Temporal that has lost its store is found out by this (ms): without their namespace its workers give up after a minute. */
const LOOK_MS = 10_000;
/** Temporal may need a moment to take anything in a namespace that is new: it is told so often, once at each look. */
const TELLS = 3;

export interface KeepNamespace {
  connection: Connection;
  namespace: string;
  log: { warn(fields: object, message: string): void };
}

/** Sees to it that the namespace is there, as soon as Temporal is. */
export function awaitNamespace({ connection, namespace, log }: KeepNamespace): Promise<boolean> {
  return again('Temporal', log, () => ensureNamespace(connection, namespace, RETENTION_DAYS));
}

/**
 * Makes the namespace again where Temporal has lost it with its store, and has `tell` say what is under way, which Temporal has forgotten as well.
 * Returns how to stop.
 */
export function keepNamespace(
  { connection, namespace, log }: KeepNamespace,
  tell: () => Promise<unknown>,
  everyMs = LOOK_MS,
): () => Promise<void> {
  let tells = 0;
  const look = async () => {
    if (await ensureNamespace(connection, namespace, RETENTION_DAYS)) {
      tells = TELLS;
      log.warn({ namespace }, 'Temporal had lost the namespace: it was made again');
    }
    if (tells === 0) return;
    tells -= 1;
    await tell();
  };
  return keepRunning({ 'the namespace in Temporal': look }, log, everyMs);
}
