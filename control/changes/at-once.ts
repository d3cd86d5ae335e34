/**
 * Works off the items in their order, at most `limit` at the same time. After a failure no further item is begun; the items that are under way
 * go on by themselves.
 * @param mayBegin is asked before each item; false leaves the rest
 * @returns how many items were left
 * @throws the first failure, at once
 */
export async function atOnce<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
  mayBegin: () => boolean = () => true,
): Promise<number> {
  let begun = 0;
  let hasFailed = false;
  const workOff = async () => {
    while (begun < items.length && !hasFailed && mayBegin()) {
      const item = items[begun] as T;
      begun += 1;
      try {
        await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, workOff));
  return items.length - begun;
}
