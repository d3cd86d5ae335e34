/** Reads that several ask for at the same time are made once: all of them get the same promise. */
export interface SharedReads {
  /** Joins the read under `key` that is on its way, or starts it. Joiners must not change what they get. */
  read<T>(key: string, load: () => Promise<T>): Promise<T>;
}

export function createSharedReads(): SharedReads {
  const open = new Map<string, Promise<unknown>>();
  return {
    read: <T>(key: string, load: () => Promise<T>): Promise<T> => {
      const joined = open.get(key) as Promise<T> | undefined;
      if (joined !== undefined) return joined;
      const started = load().finally(() => open.delete(key));
      open.set(key, started);
      return started;
    },
  };
}
