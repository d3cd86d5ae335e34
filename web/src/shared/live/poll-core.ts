/** The connection of a page without shared workers: it asks from time to time. It knows nothing of the browser: hub-client.ts runs it. */
import { STALE_AFTER_MS } from './hub-core.ts';
import type { Connection, ConnectionState } from './protocol.ts';

/** Pauses between two questions, ms: while answers come, and after one that got none. */
const [POLL_MS, AGAIN_MS] = [10_000, 5_000];

export interface PollParts {
  now(): number;
  /** Asks the API for something. Resolves to whether it knows who asks; rejects where no answer comes. */
  ask(): Promise<boolean>;
  /** Is told how the page is connected, after each question and when it gets stale. */
  connected(connection: Connection): void;
  /** Is told when everything is to be read again. */
  changed(): void;
  /** Is told when the API does not know the user any more. */
  unknown(): void;
}

export interface Poll {
  /** Called when the page is seen, or seen again: asks at once. The time in which it was hidden counts as no cut. */
  seen(): void;
  /** Called each second while the page is seen. */
  tick(): void;
}

/** Makes it; it asks nothing before the page is seen. */
export function createPoll(parts: PollParts): Poll {
  let connection: Connection = { state: 'reconnecting', lastByteAt: parts.now() };
  let seenAt = parts.now();
  let askAt = Number.POSITIVE_INFINITY;
  let isAsking = false;

  const set = (state: ConnectionState, lastByteAt = connection.lastByteAt) => {
    if (connection.state === state && connection.lastByteAt === lastByteAt) return;
    connection = { state, lastByteAt };
    parts.connected(connection);
  };
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    askAt = Number.POSITIVE_INFINITY;
    try {
      const isKnown = await parts.ask();
      set('live', parts.now());
      if (isKnown) parts.changed();
      else parts.unknown();
    } catch {
      if (connection.state === 'live') set('reconnecting');
    } finally {
      isAsking = false;
      askAt = parts.now() + (connection.state === 'live' ? POLL_MS : AGAIN_MS);
    }
  };

  return {
    seen: () => {
      seenAt = parts.now();
      void ask();
    },
    tick: () => {
      const now = parts.now();
      if (now - Math.max(connection.lastByteAt, seenAt) > STALE_AFTER_MS) set('stale');
      if (now >= askAt) void ask();
    },
  };
}
