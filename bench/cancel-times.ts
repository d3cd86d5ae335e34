/** What ends of several kinds took with Muster and without, as one measured claim. */
import { ENDLESS, type EndlessPlay } from './endless-plays.ts';
import { type Measurement, round } from './measurement.ts';
import { quantile } from './statistics.ts';

/** From the request to cancel, s. */
export interface CancelTimes {
  /** Until nothing was left. */
  gone: number;
  /** Until the session was `complete`. */
  complete: number;
  /** What the end of the same thing took without Muster. */
  bare: number;
}

/** Held against the longest of all ends of every kind, s. */
export function heldByLongest(
  what: string,
  bar: string,
  seconds: number,
  found: ReadonlyMap<EndlessPlay, readonly CancelTimes[]>,
): Measurement {
  const parts: string[] = [];
  const samples: Record<string, number[]> = {};
  for (const [kind, times] of found) {
    const [gone, complete, bare] = (['gone', 'complete', 'bare'] as const).map((name) => {
      const values = times.map((time) => round(time[name], 3));
      samples[`${kind}_${name}`] = values;
      return values;
    }) as [number[], number[], number[]];
    const figures = (values: number[]) => `p50 ${round(quantile(values, 0.5))} s, max ${round(Math.max(...values))} s`;
    parts.push(
      `${ENDLESS[kind].what}: ${figures(gone)} (bare ${round(quantile(bare, 0.5))} s; complete ${figures(complete)})`,
    );
  }
  const longest = Math.max(...[...found.values()].flat().map(({ gone }) => gone));
  return { what, bar, measured: parts.join('; '), met: longest <= seconds, samples };
}
