/** Whether the database answers, for streams that would otherwise say that what a page shows is true. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Db, pingDatabase } from '../../../store/connection/database.ts';

/** Time for an answer, ms: a comment that waits for it still comes before a browser takes its stream for cut. */
const PATIENCE_MS = 3_000;
/** So long all streams of this process share one answer, ms. */
const SHARED_MS = 250;

/** Returns what asks the database, at most four times a second; it never rejects. */
export function databaseAnswers(db: Db): () => Promise<boolean> {
  let last: { at: number; answer: Promise<boolean> } | undefined;
  return () => {
    const now = performance.now();
    if (last === undefined || now - last.at > SHARED_MS) last = { at: now, answer: ask(db) };
    return last.answer;
  };
}

async function ask(db: Db): Promise<boolean> {
  const end = new AbortController();
  try {
    const late = delay(PATIENCE_MS, false, { signal: end.signal }).catch(() => false);
    return await Promise.race([pingDatabase(db).then(() => true), late]);
  } catch {
    return false;
  } finally {
    end.abort();
  }
}
