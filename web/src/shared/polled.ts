/** What no stream tells of is read from time to time. */

interface Observed {
  observers: readonly { options: { refetchInterval?: unknown } }[];
}

/** Whether a page reads it from time to time, and not in a hidden tab: it is old when the page is seen again. */
export function isPolled({ observers }: Observed): boolean {
  return observers.some(({ options }) => Boolean(options.refetchInterval));
}
