/** Metrics that playbooks make, beside those of the process. */
import { Counter, Gauge, Histogram, type Registry, Summary } from 'prom-client';
import { seriesOf, USER_METRICS_MAX, type UserMetric } from '../../domain/operator/user-metrics.ts';
import { messageOf } from '../../domain/text/message-of.ts';

type Made =
  | { type: 'counter'; metric: Counter }
  | { type: 'gauge'; metric: Gauge }
  | { type: 'observed'; metric: Histogram | Summary };

/** Takes metrics of playbooks into a registry. Returns why one is refused; null: it is taken. */
export type TakeUserMetric = (metric: UserMetric) => string | null;

/** Opens the metrics of playbooks. `registry` has all metrics of the process by then. */
export function openUserMetrics(registry: Registry): TakeUserMetric {
  const own = new Set(registry.getMetricsAsArray().flatMap(({ name }) => seriesOf(name, 'histogram')));
  const made = new Map<string, Made>();
  /** By each series the metric that writes it. */
  const series = new Map<string, string>();

  const make = ({ name, help, change: { type } }: UserMetric): Made | string => {
    const names = seriesOf(name, type);
    const taken = names.find((one) => own.has(one));
    if (taken !== undefined) return `${taken} is a metric of the operator itself`;
    const other = names.map((one) => series.get(one)).find((one) => one !== undefined);
    if (other !== undefined) return `${name} and the metric ${other} would write the same series`;
    if (made.size >= USER_METRICS_MAX)
      return `there are ${USER_METRICS_MAX} metrics of playbooks, and there may be no more`;
    let metric: Made;
    try {
      metric = newMetric({ name, help: help === '' ? name : help, registers: [registry] }, type);
    } catch (error) {
      // The registry takes names that every object has, such as `constructor`, for its own.
      return `${name} cannot be the name of a metric: ${messageOf(error)}`;
    }
    made.set(name, metric);
    for (const one of names) series.set(one, name);
    return metric;
  };

  return (wanted) => {
    const { name, change } = wanted;
    const found = made.get(name) ?? make(wanted);
    if (typeof found === 'string') return found;
    if (found.type === 'observed' && 'observe' in change) found.metric.observe(change.observe);
    else if (found.type === 'counter' && change.type === 'counter') found.metric.inc(change.add);
    else if (found.type === 'gauge' && change.type === 'gauge') changeGauge(found.metric, change);
    else return `${name} is a ${found.type === 'observed' ? 'histogram or summary' : found.type}, not a ${change.type}`;
    return null;
  };
}

function newMetric(
  options: { name: string; help: string; registers: Registry[] },
  type: UserMetric['change']['type'],
): Made {
  if (type === 'counter') return { type, metric: new Counter(options) };
  if (type === 'gauge') return { type, metric: new Gauge(options) };
  // Without quantiles, as the reference operator's.
  const metric = type === 'histogram' ? new Histogram(options) : new Summary({ ...options, percentiles: [] });
  return { type: 'observed', metric };
}

function changeGauge(gauge: Gauge, change: Extract<UserMetric['change'], { type: 'gauge' | 'counter' }>): void {
  if ('add' in change) gauge.inc(change.add);
  else if (change.set === 'now') gauge.setToCurrentTime();
  else gauge.set(change.set);
}
