import { setTimeout as delay } from 'node:timers/promises';

/**
 * One read for all who ask within so long after it began, ms, and for all who ask while it goes on: slow reads do not pile up. What failed is read
 * again for the next caller.
 * @param milliseconds or what says it of an answer
 */
export function sharedAnswer<T>(
  read: () => Promise<T>,
  milliseconds: number | ((answer: T) => number),
): () => Promise<T> {
  const timeOf = typeof milliseconds === 'number' ? () => milliseconds : milliseconds;
  let last: { at: number; for: number; isOpen: boolean; answer: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (last !== undefined && (last.isOpen || now - last.at < last.for)) return last.answer;
    const answer = read();
    const mine = { at: now, for: 0, isOpen: true, answer };
    last = mine;
    answer.then(
      (found) => {
        mine.for = timeOf(found);
        mine.isOpen = false;
      },
      () => {
        if (last === mine) last = undefined;
      },
    );
    return answer;
  };
}

/**
 * The answer that was read last, at once, while the next one is read. Where there is none yet, or its read began longer ago, the next one: what that
 * read throws is thrown then.
 * @param maxAgeMs an answer is given at once for so long after its read began, ms
 */
export function lastAnswer<T>(read: () => Promise<T>, maxAgeMs: number): () => Promise<T> {
  let last: { at: number; answer: T } | undefined;
  return async () => {
    const now = performance.now();
    const next = read().then((answer) => {
      if (last === undefined || last.at <= now) last = { at: now, answer };
      return answer;
    });
    if (last === undefined || now - last.at >= maxAgeMs) return next;
    next.catch(() => undefined);
    return last.answer;
  };
}

/**
 * One read for all who ask before it begins. It begins when the one before has ended, and so long after that one began at least, ms. No answer is older than its
 * question: a page that was told of a change, and asks for the last time, has it.
 */
export function nextAnswer<T>(read: () => Promise<T>, gapMs: number): () => Promise<T> {
  let next: Promise<T> | undefined;
  let before: Promise<unknown> = Promise.resolve();
  let begunAt = Number.NEGATIVE_INFINITY;
  const readInTurn = async () => {
    await before;
    const rest = begunAt + gapMs - performance.now();
    if (rest > 0) await delay(rest);
    next = undefined;
    begunAt = performance.now();
    const answer = read();
    before = answer.catch(() => undefined);
    return answer;
  };
  return () => {
    next ??= readInTurn();
    return next;
  };
}
