/** Metrics of playbooks: what a request of the module `osdk_metric` asks for. */
import { type UserMetricMembers, UserMetricSchema } from './user-metric-schema.ts';

/** Names of metrics that playbooks may make in one process, and characters of a description that are kept. */
export const USER_METRICS_MAX = 1_000;
const HELP_MAX = 1_024;

export const USER_METRIC_TYPES = ['counter', 'gauge', 'histogram', 'summary'] as const;
export type UserMetricType = (typeof USER_METRIC_TYPES)[number];

export type MetricChange =
  | { type: 'counter' | 'gauge'; add: number }
  /** `now`: the seconds since 1970. */
  | { type: 'gauge'; set: number | 'now' }
  | { type: 'histogram' | 'summary'; observe: number };

export interface UserMetric {
  name: string;
  help: string;
  change: MetricChange;
}

/** Returns what a body asks for; `mistake`: why it is refused. */
export function readUserMetric(body: unknown): UserMetric | { mistake: string } {
  const read = UserMetricSchema.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    const place = issue === undefined || issue.path.length === 0 ? '' : `${issue.path.join('.')}: `;
    return { mistake: `${place}${issue?.message ?? 'is not a metric'}` };
  }
  const { name, description, ...members } = read.data;
  const given = USER_METRIC_TYPES.filter((type) => (members[type] ?? null) !== null);
  const all = USER_METRIC_TYPES.join(', ');
  if (given.length === 0) return { mistake: `at least one of ${all} must be given` };
  if (given.length > 1) return { mistake: `only one of ${all} may be given, not ${given.join(' and ')}` };
  return { name, help: description.slice(0, HELP_MAX), change: changeOf(members) };
}

/** The first key that is there counts, in the order of the reference operator. */
function changeOf({ counter, gauge, histogram, summary }: UserMetricMembers): MetricChange {
  if (counter) return { type: 'counter', add: counter.increment ? 1 : (counter.add ?? 0) };
  if (!gauge) return { type: histogram ? 'histogram' : 'summary', observe: (histogram ?? summary)?.observe ?? 0 };
  if (gauge.increment) return { type: 'gauge', add: 1 };
  if (gauge.decrement) return { type: 'gauge', add: -1 };
  if (isNumber(gauge.add)) return { type: 'gauge', add: gauge.add };
  if (isNumber(gauge.subtract)) return { type: 'gauge', add: -gauge.subtract };
  if (isNumber(gauge.set)) return { type: 'gauge', set: gauge.set };
  return gauge.set_to_current_time ? { type: 'gauge', set: 'now' } : { type: 'gauge', add: 0 };
}

const isNumber = (value: number | null | undefined): value is number => typeof value === 'number';

/** Returns the names of the series that a metric writes: no two metrics may write one. */
export function seriesOf(name: string, type: UserMetricType): string[] {
  if (type === 'counter' || type === 'gauge') return [name];
  const both = [name, `${name}_sum`, `${name}_count`];
  return type === 'summary' ? both : [...both, `${name}_bucket`];
}
