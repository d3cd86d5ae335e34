/**
 * One read for all who ask within so long after it began, ms, and for all who ask while it goes on: slow reads do not pile up. What failed is read
 * again for the next caller.
 */
export function sharedAnswer<T>(read: () => Promise<T>, milliseconds: number): () => Promise<T> {
  let last: { at: number; isOpen: boolean; answer: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (last !== undefined && (last.isOpen || now - last.at < milliseconds)) return last.answer;
    const answer = read();
    const mine = { at: now, isOpen: true, answer };
    last = mine;
    answer.then(
      () => {
        mine.isOpen = false;
      },
      () => {
        if (last === mine) last = undefined;
      },
    );
    return answer;
  };
}

/** The answer that was read last, at once, while the next one is read; where there is none yet, the first one. */
export function lastAnswer<T>(read: () => Promise<T>): () => Promise<T> {
  let last: { answer: T } | undefined;
  return async () => {
    const next = read().then((answer) => {
      last = { answer };
      return answer;
    });
    if (last === undefined) return next;
    next.catch(() => undefined);
    return last.answer;
  };
}
