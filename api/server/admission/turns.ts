/** Runs a piece of work when it is its turn; answers what the work answers. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets `width` pieces of work run at once, the others in the order in which they came. */
export function createTurns(width: number): TakeTurn {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy < width) busy += 1;
    // Whoever is done hands its place on, so that nobody comes in between.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) busy -= 1;
      else next();
    }
  };
}
