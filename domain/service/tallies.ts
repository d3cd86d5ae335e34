/** What Muster counts for ever in its database, so that every API process shows the same and a restart loses nothing. */

/** Plain counts with the name of their label. */
export const COUNTS = {
  sessions_ended: 'succeeded',
  batches_ended: 'result',
  plan_nodes_failed: 'outcome',
  runs_lost: 'owner',
  webhook_notifications_ended: 'result',
  schedule_runs: 'result',
  cluster_calls: 'class',
} as const;
export type CountName = keyof typeof COUNTS;

/** Labels that a count shows before anything was counted. */
export const FIRST_LABELS: Readonly<Record<CountName, readonly string[]>> = {
  sessions_ended: ['true', 'false', 'unknown'],
  batches_ended: [],
  plan_nodes_failed: ['failed', 'error'],
  runs_lost: ['session'],
  webhook_notifications_ended: ['delivered', 'failed'],
  schedule_runs: ['succeeded', 'failed', 'cancelled', 'skipped'],
  cluster_calls: ['accepted', 'absent', 'being_deleted', 'changed', 'fault', 'refused', 'unreachable'],
};

/** Durations. */
export const DURATIONS = ['session_schedule_to_start', 'session_work', 'run_schedule_to_start'] as const;
export type DurationName = (typeof DURATIONS)[number];

/** Upper bounds of the buckets of a duration, seconds; a last one takes what is longer. */
export const BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400] as const;

export interface Histogram {
  /** How many were at most as long as each of the bounds, in their order. */
  cumulative: number[];
  count: number;
  /** Seconds. */
  sum: number;
}

/** The histogram of stored buckets: bucket i holds what lies above bound i-1 and not above bound i. */
export function histogramOf(rows: readonly { bucket: number; count: number; sum: number }[]): Histogram {
  const counts = BOUNDS.map((_, at) => rows.find(({ bucket }) => bucket === at)?.count ?? 0);
  let total = 0;
  const cumulative = counts.map((count) => {
    total += count;
    return total;
  });
  return {
    cumulative,
    count: rows.reduce((all, { count }) => all + count, 0),
    sum: rows.reduce((all, { sum }) => all + sum, 0),
  };
}
