/** Whether a run was ok, by its events and its exit status, and what its resource is told. */
import { completionTime } from './completion-time.ts';
import { durationOf } from './duration.ts';
import { failuresOf, type RunEnd, shortened, withoutStats } from './failure-messages.ts';
import { countsOf, type RunnerEvent, requeueIn } from './runner-events.ts';

/** Sums over all hosts. */
export interface ResultCounters {
  ok: number;
  changed: number;
  skipped: number;
  failures: number;
  unreachable: number;
  rescued: number;
  ignored: number;
}

export interface Outcome {
  outcome: 'ok' | 'failed';
  /** Why it failed; empty when it was ok. */
  messages: string[];
  counters: ResultCounters;
  /** Time of the stats event; null without one. */
  completion: string | null;
  /** What the playbook asked for with the requeue module (s); 0: no timer; null: it did not ask. */
  requeue: number | null;
}

/** Names of the counters in a stats event. */
const COUNTERS = {
  ok: 'ok',
  changed: 'changed',
  skipped: 'skipped',
  failures: 'failures',
  unreachable: 'dark',
  rescued: 'rescued',
  ignored: 'ignored',
} as const satisfies Record<keyof ResultCounters, string>;

/** Returns how a run ended. Its last stats event counts; a run without a stats event has failed. */
export function outcomeOf(events: readonly RunnerEvent[], end: RunEnd): Outcome {
  const stats = events.findLast(({ event }) => event === 'playbook_on_stats');
  const requeue = requeueOf(events);
  const counters = stats === undefined ? ZERO : sums(stats);
  const messages = shortened([
    ...(stats === undefined
      ? withoutStats(end)
      : failuresOf(events, stats, counters.failures + counters.unreachable, end)),
    ...requeue.messages,
  ]);
  return {
    outcome: messages.length === 0 ? 'ok' : 'failed',
    messages,
    counters,
    completion: stats === undefined ? null : completionTime(stats.created),
    requeue: requeue.seconds,
  };
}

const ZERO: ResultCounters = { ok: 0, changed: 0, skipped: 0, failures: 0, unreachable: 0, rescued: 0, ignored: 0 };

/** Returns the counters of each host in a stats event. */
export function hostCounters(stats: RunnerEvent): Map<string, ResultCounters> {
  const hosts = new Map<string, ResultCounters>();
  for (const [counter, name] of Object.entries(COUNTERS)) {
    for (const [host, count] of countsOf(stats, name)) {
      hosts.set(host, { ...(hosts.get(host) ?? ZERO), [counter]: count });
    }
  }
  return hosts;
}

function sums(stats: RunnerEvent): ResultCounters {
  const sum = (name: string): number => [...countsOf(stats, name).values()].reduce((total, count) => total + count, 0);
  return {
    ok: sum(COUNTERS.ok),
    changed: sum(COUNTERS.changed),
    skipped: sum(COUNTERS.skipped),
    failures: sum(COUNTERS.failures),
    unreachable: sum(COUNTERS.unreachable),
    rescued: sum(COUNTERS.rescued),
    ignored: sum(COUNTERS.ignored),
  };
}

/** The last wish counts; one that is no duration is a failure of the run. */
function requeueOf(events: readonly RunnerEvent[]): { seconds: number | null; messages: string[] } {
  const last = events.map(requeueIn).findLast((period) => period !== null);
  if (last === undefined || last === null) return { seconds: null, messages: [] };
  const period = durationOf(last);
  return 'mistake' in period
    ? { seconds: null, messages: [period.mistake] }
    : { seconds: period.seconds, messages: [] };
}
