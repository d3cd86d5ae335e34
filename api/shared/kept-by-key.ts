/**
 * Returns what is made for a key, made once while it is kept.
 * @param most how many answers are kept; the answer that was asked for longest ago goes first
 */
export function keptByKey<T>(make: (key: string) => T, most: number): (key: string) => T {
  const kept = new Map<string, T>();
  return (key) => {
    const found = kept.get(key) ?? make(key);
    kept.delete(key);
    kept.set(key, found);
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      kept.delete(oldest);
    }
    return found;
  };
}
