/**
 * Makes a read that many ask for at the same time: each caller is told what was read after its call; one read serves all calls that come while
 * another is under way. Rejects as the read does, for all of them.
 */
export function sharedReads<Value>(read: (key: string) => Promise<Value>): (key: string) => Promise<Value> {
  const underWay = new Map<string, Promise<Value>>();
  const next = new Map<string, Promise<Value>>();
  return (key) => {
    const waiting = next.get(key);
    if (waiting !== undefined) return waiting;
    const begin = async () => {
      await underWay.get(key)?.catch(() => undefined);
      next.delete(key);
      underWay.set(key, own);
      try {
        return await read(key);
      } finally {
        if (underWay.get(key) === own) underWay.delete(key);
      }
    };
    const own: Promise<Value> = Promise.resolve().then(begin);
    next.set(key, own);
    return own;
  };
}
