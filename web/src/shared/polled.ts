/** What no stream tells of is read from time to time. */
import { isRefusal } from './api-call.ts';

/** How often what did not come through is read again while it is shown, ms. */
const AGAIN_MS = 5_000;

interface Observed {
  observers: readonly { options: { refetchInterval?: unknown } }[];
}

/** The interval of what is not polled: only what did not come through is read again, until an answer comes. */
export const untilAnswered = ({ state: { error } }: { state: { error: unknown } }): number | false =>
  error !== null && !isRefusal(error) ? AGAIN_MS : false;

/** Whether a page reads it from time to time, and not in a hidden tab: it is old when the page is seen again. */
export function isPolled({ observers }: Observed): boolean {
  return observers.some(
    ({ options: { refetchInterval } }) => Boolean(refetchInterval) && refetchInterval !== untilAnswered,
  );
}
