/** What a dry run notes beside its transaction: each request has notes of its own, which what stands in for the outside finds. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { RetryHosts } from '../../domain/sessions/schema.ts';

export interface RehearsalNotes {
  warnings: string[];
  /** Aborts when the time for all remotes of the request is over. */
  remotes: AbortSignal;
  /** The session that would go on where it holds, and for which of its hosts. */
  goesOn: { sessionId: string; hosts: RetryHosts } | null;
}

/** Time for the answers of all remotes of a request together, ms. */
export const REMOTES_MS = 5_000;

const current = new AsyncLocalStorage<RehearsalNotes>();

/** Runs `work` with notes of its own. */
export function withRehearsalNotes<T>(work: (notes: RehearsalNotes) => Promise<T>): Promise<T> {
  const notes: RehearsalNotes = { warnings: [], remotes: AbortSignal.timeout(REMOTES_MS), goesOn: null };
  return current.run(notes, () => work(notes));
}

/** The notes of the dry run that is at work here. Throws outside of any. */
export function readRehearsalNotes(): RehearsalNotes {
  const notes = current.getStore();
  if (notes === undefined) throw new Error('no dry run is at work here');
  return notes;
}
