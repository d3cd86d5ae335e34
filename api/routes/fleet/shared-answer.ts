/** One read for all who ask within so long, ms. What failed is read again for the next caller. */
export function sharedAnswer<T>(read: () => Promise<T>, milliseconds: number): () => Promise<T> {
  let last: { at: number; answer: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (last !== undefined && now - last.at < milliseconds) return last.answer;
    const answer = read();
    const mine = { at: now, answer };
    last = mine;
    answer.catch(() => {
      if (last === mine) last = undefined;
    });
    return answer;
  };
}
