/** Values that are kept for a while, each from the time at which it was made. */

export interface KeptFor<Value> {
  find(key: string): Value | undefined;
  put(key: string, value: Value): void;
  /** Returns what is kept, or makes it. Throws what `make` throws. */
  read(key: string, make: () => Value): Value;
  forget(key: string): void;
}

/** Keeps each value for so long, ms, and at most so many: the oldest go first. */
export function keepFor<Value>(ms: number, most = Number.POSITIVE_INFINITY): KeptFor<Value> {
  // By age, the oldest first: all values are kept equally long.
  const kept = new Map<string, { value: Value; until: number }>();
  const find: KeptFor<Value>['find'] = (key) => {
    const known = kept.get(key);
    return known !== undefined && performance.now() < known.until ? known.value : undefined;
  };
  const put: KeptFor<Value>['put'] = (key, value) => {
    const now = performance.now();
    kept.delete(key);
    for (const [old, { until }] of kept) {
      if (now < until && kept.size < most) break;
      kept.delete(old);
    }
    kept.set(key, { value, until: now + ms });
  };
  return {
    find,
    put,
    read(key, make) {
      const known = find(key);
      if (known !== undefined) return known;
      const value = make();
      put(key, value);
      return value;
    },
    forget: (key) => void kept.delete(key),
  };
}
