/** Tells whoever has started this process, each second, that its loop turns, and whether it takes up work. */
import type { Connection } from '@temporalio/client';
import { readPolls } from '../control/sessions/read-workers.ts';

const BEAT_MS = 1_000;
/** How often Temporal is asked whether it has seen this worker. */
const LOOK_MS = 15_000;
/** A worker asks again each minute at the latest, also when there is nothing to do. */
const UNSEEN_MS = 150_000;

export interface Liveness {
  /** From now on the worker takes work, until `problem` names why not. */
  ready(problem: () => string | null): void;
  stop(): void;
}

/** What is sent: `ill` is null while all is well. */
export interface Beat {
  type: 'alive';
  ill: string | null;
}

/** Begins at once: a process that waits for its servers is alive. Without a parent that listens nothing is sent. */
export function tellLiveness(): Liveness {
  let problem: () => string | null = () => null;
  const beat = setInterval(() => {
    const message: Beat = { type: 'alive', ill: problem() };
    // A parent that ends just now is none any more.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  }, BEAT_MS).unref();
  return {
    ready: (question) => {
      problem = question;
    },
    stop: () => clearInterval(beat),
  };
}

/**
 * Watches that Temporal sees this worker ask for work; answers the question why not. A server that does not answer says nothing about
 * the worker.
 */
export function watchPolls(
  connection: Connection,
  { namespace, queue, identity }: { namespace: string; queue: string; identity: string },
): { problem(): string | null; stop(): void } {
  let seenAt = performance.now();
  const look = async () => {
    const polls = await readPolls(connection, { namespace, queue }).catch(() => null);
    if (polls === null || polls.some((poll) => poll.identity === identity && isFresh(poll.askedAt))) {
      seenAt = performance.now();
    }
  };
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  return {
    problem: () => {
      const seconds = Math.round((performance.now() - seenAt) / 1_000);
      return seconds * 1_000 > UNSEEN_MS ? `it has not asked Temporal for work for ${seconds} s` : null;
    },
    stop: () => clearInterval(timer),
  };
}

const isFresh = (askedAt: Date): boolean => Date.now() - askedAt.getTime() < UNSEEN_MS;
