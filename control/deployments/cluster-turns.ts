/** Bounds how many requests this process has in flight at each member cluster. */

export interface ClusterTurns {
  /** Does a piece of work that makes one request after the other, when it is its turn at this cluster. Throws what the work throws. */
  take<Result>(cluster: string, work: () => Promise<Result>): Promise<Result>;
}

/** Makes the turns of all clusters; at each so many pieces of work are done at once, in the order in which they were asked for. */
export function createClusterTurns(most: number): ClusterTurns {
  const clusters = new Map<string, { atWork: number; waiting: (() => void)[] }>();
  return {
    async take(cluster, work) {
      const place = clusters.get(cluster) ?? { atWork: 0, waiting: [] };
      clusters.set(cluster, place);
      if (place.atWork < most) place.atWork += 1;
      // Work that ends hands its turn on, so that no other comes in between.
      else await new Promise<void>((begin) => place.waiting.push(begin));
      try {
        return await work();
      } finally {
        const next = place.waiting.shift();
        if (next !== undefined) next();
        else {
          place.atWork -= 1;
          if (place.atWork === 0) clusters.delete(cluster);
        }
      }
    },
  };
}
