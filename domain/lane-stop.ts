/** What a lane offers to *stop everything*: to rest, and to go on. */

/** Who asks; null where nobody is known. */
interface By {
  actor: string | null;
}

/** How many things of each kind were stopped, or go on. */
export type StopCounts = Record<string, number>;

export interface WantedStop {
  /** Notes of what is paused carry this moment: that is how it is known again. */
  at: Date;
  reason: string;
}

export interface LaneStop {
  /** Keeps the lane from starting anything by itself. Repeating it is harmless. Returns counts of what it paused. */
  pause?(by: By, stop: WantedStop): Promise<StopCounts>;
  /** Ends what goes on, when no lane starts anything any more. Returns counts of what is being ended. */
  cancel?(by: By, stop: WantedStop): Promise<StopCounts>;
  /** Takes back what was paused at these moments and has not been changed since. Returns counts of what goes on. */
  go?(by: By, moments: readonly Date[]): Promise<StopCounts>;
}
