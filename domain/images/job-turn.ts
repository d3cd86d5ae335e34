/** How jobs of Muster's own image service wait for their turn. */

/** Begins the message of such a job, after which it says for whom it waits. */
export const WAITS_FOR_TURN = 'waits for its turn';

/** Whether a job only waits for its turn: nothing is wrong, however long it takes (cfs-flows 8.2). */
export function waitsForTurn({ message }: { message: string }): boolean {
  return message.startsWith(WAITS_FOR_TURN);
}

/** A job that nobody has asked for yet keeps its place for so long after it was made, seconds: its workflow is about to begin. */
export const NEW_PLACE_SECONDS = 30;
/** So much longer than its pause is a place kept, seconds: a question may be late. */
const LATE_SECONDS = 30;
/** Between two questions of the first in line, and the most for those far behind, seconds. */
const FIRST_PAUSE_SECONDS = 3;
const LONGEST_PAUSE_SECONDS = 60;

/**
 * When a job that has so many before it in line is to ask again, and how long its place is kept meanwhile, seconds. The farther behind
 * the longer, so that a long line costs hardly more than a short one.
 */
export function placeInLine(ahead: number): { askAgainSeconds: number; keptSeconds: number } {
  const askAgainSeconds = Math.min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * (ahead + 1));
  return { askAgainSeconds, keptSeconds: 2 * askAgainSeconds + LATE_SECONDS };
}

/**
 * A session that waits for a job gives up by itself, and says why in its own words; a job that nobody else limits is given up so much
 * later, seconds.
 */
export const GRACE_SECONDS = 300;

/** Whether a job that waits for its turn since then has waited too long by `now`. */
export function queuedTooLong(since: Date, queueSeconds: number, now: Date): boolean {
  return now.getTime() - since.getTime() > (queueSeconds + GRACE_SECONDS) * 1_000;
}

/**
 * Whether the user of a job that is open has said that it is done: since then it waits for its turn to be packed. What was noted before its user had
 * it is of the wait to be opened.
 */
export function isDone({
  turn_wanted_at: wanted,
  waiting_since: since,
}: {
  turn_wanted_at: Date | null;
  waiting_since: Date | null;
}): boolean {
  return wanted !== null && (since === null || wanted >= since);
}
