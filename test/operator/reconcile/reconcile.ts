/** A reconcile by the rules alone: what the API server would hold after it. */
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import { decideBegin } from '../../../domain/operator/decide-begin.ts';
import { decideEnd, type Next } from '../../../domain/operator/decide-end.ts';
import { outcomeOf } from '../../../domain/operator/outcome.ts';
import type { RunnerEvent } from '../../../domain/operator/runner-events.ts';
import {
  type AnsibleResult,
  markError,
  markFailed,
  markRunning,
  markSucceeded,
  UNABLE,
} from '../../../domain/operator/status.ts';
import type { WatchEntry } from '../../../domain/operator/watch-entry.ts';

export const T1 = new Date('2026-01-01T00:00:01.600Z');
export const T2 = new Date('2026-01-01T00:00:02.600Z');
const TEN_HOURS = 36_000;

export interface Run {
  events?: RunnerEvent[];
  exitCode?: number;
  lastLines?: string[] | null;
  /** The run cannot be started. */
  unable?: boolean;
  /** What others do to the resource meanwhile. */
  meanwhile?: (resource: CustomResource) => CustomResource | null;
}

export interface Reconciled {
  resource: CustomResource | null;
  /** The finalizer's playbook or role ran. */
  finalizerRun: boolean;
  outcome: string;
  next: Next | null;
}

/** Finalizers that went: Kubernetes removes the object with the last one. */
const afterFinalizers = (resource: CustomResource): CustomResource | null =>
  resource.metadata.deletionTimestamp !== undefined && (resource.metadata.finalizers ?? []).length === 0
    ? null
    : resource;

export function reconcile(before: CustomResource | null, entry: WatchEntry, run: Run, now = T1): Reconciled {
  const begin = decideBegin(before, entry, TEN_HOURS);
  const stays = { resource: before, finalizerRun: false, next: null };
  if (before === null || begin.does === 'end') {
    return { ...stays, outcome: begin.does === 'end' ? begin.outcome : begin.does };
  }
  const error = (resource: CustomResource, message: string): Reconciled => ({
    resource: entry.manage_status ? { ...resource, status: markError(resource.status, message, { now }) } : resource,
    finalizerRun: false,
    outcome: 'failed',
    next: { when: 'back_off' },
  });
  if (begin.does === 'drain') return { ...stays, outcome: 'ok' };
  if (begin.does === 'fail') return error(before, begin.message);
  const finalizers = [
    ...(before.metadata.finalizers ?? []),
    ...(begin.addFinalizer === null ? [] : [begin.addFinalizer]),
  ];
  const running: CustomResource = {
    ...before,
    metadata: { ...before.metadata, ...(finalizers.length > 0 ? { finalizers } : {}) },
    ...(entry.manage_status ? { status: markRunning(before.status, { now }) } : {}),
  };
  if (run.unable) return error(running, UNABLE);
  const { events = [], exitCode = 0, lastLines = [] } = run;
  const outcome = outcomeOf(events, { exitCode, lastLines });
  const hasStats = events.some(({ event }) => event === 'playbook_on_stats');
  const fresh = run.meanwhile === undefined ? running : run.meanwhile(running);
  const began = { uid: before.metadata.uid, finalizerRun: begin.finalizerRun, periodSeconds: begin.periodSeconds };
  const end = decideEnd(fresh, began, entry, outcome);
  const result: AnsibleResult = {
    ...outcome.counters,
    ...(outcome.completion === null ? {} : { completion: outcome.completion }),
  };
  const kept =
    fresh === null || end.finalizers === null
      ? fresh
      : afterFinalizers({ ...fresh, metadata: { ...fresh.metadata, finalizers: end.finalizers } });
  const statusOf = ({ status }: CustomResource) => {
    if (end.status === 'succeeded') return markSucceeded(status, result, { now });
    if (end.status === 'failed' && !hasStats) return markError(status, end.messages.join('\n'), { now });
    return end.status === 'failed' ? markFailed(status, end.messages, result, { now }) : status;
  };
  const status = kept === null ? undefined : statusOf(kept);
  return {
    resource: kept === null ? null : { ...kept, ...(status === undefined ? {} : { status }) },
    finalizerRun: begin.finalizerRun,
    outcome: end.outcome,
    next: end.next,
  };
}

/** Events of a run. */
export const stats = (counts: Record<string, Record<string, number>>): RunnerEvent => ({
  event: 'playbook_on_stats',
  created: '2026-01-02T03:04:05.678900+00:00',
  event_data: counts,
});
export const S0 = stats({ ok: { localhost: 5 }, changed: { localhost: 2 }, skipped: { localhost: 1 } });
export const SF = stats({ ok: { localhost: 3 }, failures: { localhost: 1 } });
export const failed = (msg?: string, more: object = {}): RunnerEvent => ({
  event: 'runner_on_failed',
  event_data: { host: 'localhost', task_action: 'fail', res: msg === undefined ? { censored: 'x' } : { msg }, ...more },
});
export const requeue = (period: string): RunnerEvent => ({
  event: 'runner_on_ok',
  event_data: { host: 'localhost', task_action: 'operator_sdk.util.requeue_after', res: { period } },
});

/** Conditions in the notation of the vectors: `R True/Running/"text" @T1 +{5,2,1,0}`. */
export function shown(resource: CustomResource | null): string[] {
  const { conditions = [] } = (resource?.status ?? {}) as { conditions?: Record<string, unknown>[] };
  const letters: Record<string, string> = { Running: 'R', Successful: 'S', Failure: 'X' };
  const times: Record<string, string> = { '2026-01-01T00:00:01Z': 'T1', '2026-01-01T00:00:02Z': 'T2' };
  return conditions.map(({ type, status, reason, message, lastTransitionTime, ansibleResult }) => {
    const letter = letters[String(type)];
    if (letter === undefined) return JSON.stringify(conditions.find((condition) => condition.type === type));
    const counts = ansibleResult as AnsibleResult | undefined;
    const result = counts ? ` +{${counts.ok},${counts.changed},${counts.skipped},${counts.failures}}` : '';
    return `${letter} ${status}/${reason}/${message} @${times[String(lastTransitionTime)]}${result}`;
  });
}
