/** Rules of requests that are sent again with the same `Idempotency-Key`. */

/** How long a first answer is kept, ms: 24 h. */
export const ANSWER_KEPT_MS = 24 * 3_600_000;

/** Largest answer that is kept, bytes before compression: that of a bulk write of 100,000 components with its records. */
export const ANSWER_MAX = 64 * 2 ** 20;

const KEY = /^[\x20-\x7e]{1,255}$/;

/** Whether a text can be such a key: 1 to 255 printable ASCII characters, not blanks alone. */
export function isIdempotencyKey(text: string): boolean {
  return KEY.test(text) && text.trim() !== '';
}

/** Answers of requests that were not worked on, or whose outcome another try can change. */
const NOT_KEPT = new Set([401, 403, 408, 413, 415, 421, 425, 429]);

/** Whether an answer of this HTTP status is given again: what was done, and what was refused for its content. */
export function isAnswerKept(status: number): boolean {
  return status >= 200 && status < 500 && !NOT_KEPT.has(status);
}
