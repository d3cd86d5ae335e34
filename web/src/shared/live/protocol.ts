/** What pages and the hub say to each other. */

/** `live`: bytes come. `reconnecting`: the stream is being opened again. `stale`: nothing came for 15 s. */
export type ConnectionState = 'live' | 'reconnecting' | 'stale';

export interface Connection {
  state: ConnectionState;
  /** When the last byte came, ms since 1970. */
  lastByteAt: number;
}

export type ToHub =
  /** All topics of this page from now on. */
  | { kind: 'topics'; topics: string[] }
  /** The page is still there: a port does not say when its page is gone. */
  | { kind: 'alive' }
  | { kind: 'bye' };

export type FromHub =
  | ({ kind: 'connection' } & Connection)
  /** What is behind the topic is to be read again. */
  | { kind: 'changed'; topic: string }
  /** Everything is to be read again. */
  | { kind: 'resync' }
  /** The API does not know who asks, any more. */
  | { kind: 'unknown' };

/** How often a page says that it is there, ms. Timers of hidden pages run once a minute. */
export const ALIVE_EVERY_MS = 30_000;
/** A page that said nothing for so long is gone, ms. */
export const GONE_AFTER_MS = 150_000;
