/** What the database knows, as Prometheus metrics: the same from every API process, whichever is asked. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { ROLLOUT_STATES } from '../../../domain/batches/rollout.ts';
import { CONFIGURATION_STATUSES } from '../../../domain/components/schema.ts';
import { PHASES } from '../../../domain/operator/resource-words.ts';
import type { PlanState } from '../../../domain/propagation/plan-states.ts';
import {
  BOUNDS,
  COUNTS,
  type CountName,
  DURATIONS,
  type DurationName,
  FIRST_LABELS,
  histogramOf,
} from '../../../domain/service/tallies.ts';
import type { Tally } from '../../../store/connection/tallies.ts';
import type { DeploymentGauges } from '../../../store/deployments/gauges.ts';
import type { Gauges as FleetGauges } from '../../../store/fleet/gauges.ts';
import type { OperatorCounts } from '../../../store/operator/reads.ts';

/** What gauges show: of the fleet, the number of plans by state, the work of operators, and deployments. */
interface Gauges extends FleetGauges {
  plans: Record<PlanState, number>;
  operator: OperatorCounts;
  deployments: DeploymentGauges;
}

type Value = number | null | Record<string, number>;

const none = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, 0]));

/** Name without `muster_`, what it says, and its value; a record has one sample a key, under the label. */
const GAUGES: readonly [name: string, help: string, value: (gauges: Gauges) => Value, label?: string][] = [
  ['sessions', 'Sessions on record', (now) => ({ pending: 0, running: 0, complete: 0, ...now.sessions }), 'status'],
  ['queue_length', 'Sessions that wait for a slot', (now) => now.queued],
  ['queue_oldest_seconds', 'How long the longest of them waits', (now) => now.queuedSeconds],
  ['sessions_admitted', 'Sessions that hold a slot', (now) => now.admitted],
  ['runs_active', 'Playbook runs whose process may be there', (now) => now.activeRuns],
  [
    'event_lag_seconds',
    'How late the newest event of an open run was stored, the worst of them',
    (now) => now.eventLag,
  ],
  ['run_silent_seconds', 'Seconds since the most silent run at work has told something', (now) => now.silentRun],
  ['outbox_length', 'Starts and cancels that the workflow engine has not taken yet', (now) => now.undelivered],
  ['outbox_oldest_seconds', 'Age of the oldest of them', (now) => now.undeliveredSeconds],
  ['batches', 'Batches that have not ended', (now) => ({ open: 0, sent: 0, ...now.batches }), 'state'],
  ['batch_components', 'Components in them', (now) => now.batchedComponents],
  ['batcher_backoff_seconds', 'Seconds of the general back-off that are left', (now) => now.backOff],
  ['batcher_keys_in_backoff', 'Batch keys that are in a back-off of their own', (now) => now.keysInBackOff],
  ['batcher_keys_held', 'Batch keys that a fault of the controller holds', (now) => now.heldKeys],
  ['rollouts', 'Current rollouts of configurations', (now) => ({ ...none(ROLLOUT_STATES), ...now.rollouts }), 'state'],
  ['drift_layers', 'Layers of components by what the last check found', (now) => now.drift, 'status'],
  ['drift_oldest_check_seconds', 'Age of the oldest result of a drift check', (now) => now.oldestCheck],
  ['plans', 'Plans of propagation', (now) => now.plans, 'state'],
  [
    'operator_resources',
    'Custom resources of operators',
    (now) => ({ ...none(PHASES.filter((phase) => phase !== 'gone')), ...now.operator.resources }),
    'phase',
  ],
  ['operator_due', 'Custom resources that are due and wait', (now) => now.operator.due],
  ['operator_reconciles_open', 'Reconciles that are open', (now) => now.operator.open],
  ['operators_live', 'Operators with a process that gives signs', (now) => now.operator.live],
  ['contexts', 'AppContexts of deployments', (now) => now.deployments.contexts, 'state'],
  ['clusters', 'Member clusters by whether they answer', (now) => now.deployments.clusters, 'connectivity'],
  ['schedules_failed', 'Schedules whose last run failed', (now) => now.failedSchedules],
  ['schedules', 'Schedules', (now) => ({ active: 0, paused: 0, ...now.schedules }), 'state'],
  [
    'webhook_notifications',
    'Notifications that wait for their first try, or for another',
    (now) => ({ waiting: 0, retrying: 0, ...now.notifications }),
    'state',
  ],
  [
    'webhook_oldest_notification_seconds',
    'How long the oldest notification of enabled webhooks waits',
    (now) => now.oldestNotification,
  ],
  ['database_bytes', 'Size of the database', (now) => now.databaseBytes],
  ['stopped', '1 while everything is stopped', (now) => Number(now.isStopped)],
  ['batcher_paused', '1 while the batcher is paused by hand', (now) => Number(now.isPaused)],
  ['batcher_since_last_pass_seconds', 'Seconds since the last pass of the batcher', (now) => now.sinceLastPass],
  ['batcher_pass_seconds', 'How long the last pass took', (now) => now.lastPassSeconds],
];

const COUNT_HELP: Record<CountName, string> = {
  sessions_ended: 'Sessions that ended, by result',
  batches_ended: 'Batches that ended, by result',
  plan_nodes_failed: 'Nodes that had failed when their plan ended, by outcome',
  runs_lost: 'Playbook runs whose end is unknown, by what they were for',
  webhook_notifications_ended: 'Notifications that were delivered, or given up, by result',
  schedule_runs: 'Runs of schedules that ended, by result',
  cluster_calls: 'Calls of workers to member clusters, by what their answers meant',
};

const DURATION_HELP: Record<DurationName, string> = {
  session_schedule_to_start: 'Time from the creation of a session to its slot',
  session_work: 'Time from the slot to the end of a session',
  run_schedule_to_start: 'Time from the record of a playbook run to its process',
};

/**
 * Adds these metrics to a registry; answers what takes in newly read values. Counts come from the database as they are, so a
 * restart of a process is not a reset.
 */
export function databaseMetrics(registry: Registry): (gauges: Gauges, tallies: readonly Tally[]) => void {
  const registers = [registry];
  const gauges = GAUGES.map(([name, help, read, label]) => ({
    gauge: new Gauge({ name: `muster_${name}`, help, labelNames: label === undefined ? [] : [label], registers }),
    read,
    label,
  }));
  const components = new Gauge({
    name: 'muster_components',
    help: 'Components by status and by whether they are enabled',
    labelNames: ['status', 'enabled'],
    registers,
  });
  const counters = (Object.keys(COUNTS) as CountName[]).map((name) => ({
    name,
    counter: new Counter({
      name: `muster_${name}_total`,
      help: COUNT_HELP[name],
      labelNames: [COUNTS[name]],
      registers,
    }),
  }));
  return (now, tallies) => {
    for (const { gauge, read, label } of gauges) setGauge(gauge, read(now), label);
    components.reset();
    for (const status of CONFIGURATION_STATUSES)
      for (const enabled of ['true', 'false']) components.set({ status, enabled }, 0);
    for (const { status, enabled, count } of now.components)
      components.set({ status, enabled: String(enabled) }, count);
    for (const { name, counter } of counters) {
      counter.reset();
      // What is not there yet is 0, so that its first time is seen as growth.
      for (const word of FIRST_LABELS[name]) counter.inc({ [COUNTS[name]]: word }, 0);
      const counted = tallies.filter((tally) => tally.name === name);
      for (const { label, count } of counted) counter.inc({ [COUNTS[name]]: label }, count);
    }
  };
}

function setGauge(gauge: Gauge, value: Value, label: string | undefined): void {
  gauge.reset();
  if (value === null) gauge.remove();
  else if (typeof value === 'number') gauge.set(value);
  else for (const [key, amount] of Object.entries(value)) gauge.set({ [label ?? '']: key }, amount);
}

/** Histograms whose buckets were counted elsewhere, in Prometheus's text format: the library only shows what it counted itself. */
export function durationsText(tallies: readonly Tally[]): string {
  return DURATIONS.map((duration) => {
    const { cumulative, count, sum } = histogramOf(tallies.filter(({ name }) => name === duration));
    const name = `muster_${duration}_seconds`;
    return [
      `# HELP ${name} ${DURATION_HELP[duration]}`,
      `# TYPE ${name} histogram`,
      ...BOUNDS.map((bound, at) => `${name}_bucket{le="${bound}"} ${cumulative[at] ?? 0}`),
      `${name}_bucket{le="+Inf"} ${count}`,
      `${name}_sum ${sum}`,
      `${name}_count ${count}`,
      '',
    ].join('\n');
  }).join('\n');
}
