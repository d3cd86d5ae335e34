/** What no stream tells of is read from time to time. */

interface Observed {
  observers: readonly { options: { refetchInterval?: unknown } }[];
}

/**
 * Whether a page reads a query from time to time, and not in a hidden tab: it is old when the page is seen again. `usual`: the interval of
 * what is not polled.
 */
export const isPolledUnlike =
  (usual: unknown) =>
  ({ observers }: Observed): boolean =>
    observers.some(({ options: { refetchInterval } }) => Boolean(refetchInterval) && refetchInterval !== usual);
