/** Whether the watches of a process are at work. A cluster that does not answer is no reason to doubt them: each try is a sign as well. */

/** Hears of the watches of a process, each by a name of its own. */
export interface WatchSigns {
  /** A watch is at work: it asks, was told something, or is about to wait for its next try. */
  note(watch: string): void;
  /** A watch has ended, or others go on in its place. */
  forget(watch: string): void;
}

export interface KeptSigns extends WatchSigns {
  /** Returns the watch that has given no sign for too long, with the seconds; null: all are at work. */
  still(): { watch: string; seconds: number } | null;
}

/** A watch is begun anew after 90 s without a line, and tries again after 30 s at most: one that gave no sign for so long (ms) stands still. */
const STILL_MS = 180_000;

/** Makes what remembers the signs. `now`: a clock (ms) that never goes back. */
export function keepSigns(now: () => number): KeptSigns {
  const signs = new Map<string, number>();
  return {
    note: (watch) => void signs.set(watch, now()),
    forget: (watch) => void signs.delete(watch),
    still() {
      const at = now();
      for (const [watch, sign] of signs)
        if (at - sign > STILL_MS) return { watch, seconds: Math.floor((at - sign) / 1_000) };
      return null;
    },
  };
}
