import { hostCounters, type ResultCounters } from '../../domain/operator/outcome.ts';
import { SEEN_MS } from '../../domain/operator/resource-words.ts';
import type { RunnerEvent } from '../../domain/operator/runner-events.ts';
import type {
  OperatorReconcileView,
  OperatorResourceView,
  OperatorView,
  OperatorWatchView,
} from '../../domain/operator/view-schema.ts';
import type { RunWrites } from '../../domain/operator/write-list.ts';
import { wireTime } from '../../domain/text/times.ts';
import type { ReadOperator, ReadReconcile, ReadResource, ReadWatch } from '../../store/operator/reads.ts';

const timeOf = (time: Date | null): string | null => (time === null ? null : wireTime(time));

/** An operator on the wire. */
export function operatorView({ name, version, home, watcher, hosts }: ReadOperator, now: Date): OperatorView {
  return {
    ...{ name, version, home, watcher },
    hosts: hosts.map(({ machine, version: of, slots, seenAt, engineReason }) => {
      const live = seenAt.getTime() > now.getTime() - SEEN_MS;
      // Its sign is a row: a process without a database gives none.
      const database = { ok: live, reason: live ? null : `no sign since ${wireTime(seenAt)}` };
      const engine = { ok: live && engineReason === null, reason: live ? engineReason : database.reason };
      return { host: machine, version: of, slots, seen_at: wireTime(seenAt), live, database, engine };
    }),
  };
}

/** An entry of an operator on the wire. */
export function watchView(watch: ReadWatch): OperatorWatchView {
  const { operator, group, version, kind, state, reason, slots, finalizer, dependents } = watch;
  return { operator, group, version, kind, state, reason, slots, finalizer, dependents };
}

/** A resource on the wire. */
export function resourceView(resource: ReadResource): OperatorResourceView {
  const { dueAt, failures, pausedUntil, ...same } = resource;
  return {
    ...same,
    next_attempt_at: timeOf(dueAt),
    failures_in_a_row: failures,
    paused_until: timeOf(pausedUntil),
  };
}

/** What only a single record shows: the list of its writes, and the events of its run. */
export interface RecordDetail {
  writes: RunWrites;
  events: readonly RunnerEvent[];
}

/** A record on the wire; in lists without what a single one shows. */
export function reconcileView(record: ReadReconcile, detail: RecordDetail | null): OperatorReconcileView {
  const { id, operator, group, version, kind, namespace, name, uid, generation, cause, begin, runResult } = record;
  return {
    id,
    resource_id: record.resourceId,
    ...{ operator, group, version, kind, namespace, name, uid, generation },
    entry_hash: record.entryHash,
    cause,
    finalizer_run: begin?.does === 'run' && begin.finalizerRun,
    check: false,
    host: record.machine,
    started_at: wireTime(record.startedAt),
    ended_at: timeOf(record.endedAt),
    outcome: record.outcome,
    counters: runResult?.ended === 'itself' ? runResult.counters : null,
    host_counters: detail === null ? null : countersByHost(detail.events),
    messages: record.messages ?? [],
    requeue_after_seconds: record.requeueAfterSeconds,
    requeue_reason: record.requeueReason,
    run_id: record.runId,
    writes: detail === null ? { total: record.writes, listed: null } : detail.writes,
    cancelled_by: record.cancelledBy,
  };
}

function countersByHost(events: readonly RunnerEvent[]): Record<string, ResultCounters> | null {
  const stats = events.findLast(({ event }) => event === 'playbook_on_stats');
  return stats === undefined ? null : Object.fromEntries(hostCounters(stats));
}
