import { setImmediate as others } from 'node:timers/promises';

/** Items after which others get the processor; about 10 ms of work where an item takes 20 us. */
const SLICE = 500;

/** The results of `work` for all items, in their order; a long list does not keep other requests waiting. */
export async function inSlices<T, R>(items: readonly T[], work: (item: T, index: number) => R): Promise<R[]> {
  const results: R[] = [];
  for (const [index, item] of items.entries()) {
    if (index % SLICE === SLICE - 1) await others();
    results.push(work(item, index));
  }
  return results;
}
