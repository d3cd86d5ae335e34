import type { RetryHosts } from '../../domain/sessions/schema.ts';
/** What the API needs of the workflow engine; the record is always written first. */

export interface Dispatcher {
  /** Looks at the outbox now; returns at once and never throws. */
  kick(): void;
}

export interface SessionEngine {
  /** Ends the hold of a session that waits after a failure. Refusals are MusterErrors (`session_not_holding`). */
  finishDebug(sessionId: string): Promise<void>;
  /** Runs the failed layer of a holding session again. Refusals are MusterErrors (`session_not_holding`, `nothing_failed`). */
  retryInPlace(sessionId: string, hosts: RetryHosts): Promise<void>;
  /** Says that waiting sessions may be admitted (a slot or the limit changed). */
  pokeQueue(): Promise<void>;
}
