/** What a stream of task events amounts to so far: folded event by event, so that reading on costs only what is new. */

/** Words of `host_result` events, in the order of tables. */
export const RESULT_WORDS = ['ok', 'changed', 'failed', 'unreachable', 'skipped', 'rescued', 'ignored'] as const;
export type ResultWord = (typeof RESULT_WORDS)[number];
export type ResultCounts = Record<ResultWord, number>;

/** The part of an event that counts here. */
export interface SummaryEvent {
  seq: number;
  layer: number | null;
  attempt: number | null;
  type: string;
  host: string | null;
  data: Record<string, unknown>;
}

export interface EventSummary {
  /** Number of the last event that is counted. */
  seq: number;
  layer: number | null;
  attempt: number | null;
  play: string | null;
  task: string | null;
  counts: ResultCounts;
  /** Hosts with a result in the current layer's run. */
  hosts: Set<string>;
  /** Those of them that answered the current task. */
  answered: Set<string>;
  /** Hosts that failed or were unreachable in the current attempt. */
  failed: Set<string>;
  /** Whether the current layer's run gave its final statistics. */
  finished: boolean;
}

export function emptySummary(): EventSummary {
  return {
    seq: 0,
    layer: null,
    attempt: null,
    play: null,
    task: null,
    counts: { ok: 0, changed: 0, failed: 0, unreachable: 0, skipped: 0, rescued: 0, ignored: 0 },
    hosts: new Set(),
    answered: new Set(),
    failed: new Set(),
    finished: false,
  };
}

const isResultWord = (value: unknown): value is ResultWord => RESULT_WORDS.some((word) => word === value);
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function enterRun(summary: EventSummary, event: SummaryEvent): void {
  if (event.layer === null || (event.layer === summary.layer && event.attempt === summary.attempt)) return;
  if (event.attempt !== summary.attempt) summary.failed.clear();
  summary.layer = event.layer;
  summary.attempt = event.attempt;
  summary.play = null;
  summary.task = null;
  summary.finished = false;
  summary.hosts.clear();
  summary.answered.clear();
}

/** Counts one event, in place; events come in the order of their numbers. */
export function countEvent(summary: EventSummary, event: SummaryEvent): void {
  summary.seq = event.seq;
  enterRun(summary, event);
  if (event.type === 'play_start') {
    summary.play = textOf(event.data.play);
    summary.task = null;
  } else if (event.type === 'task_start') {
    summary.task = textOf(event.data.task);
    summary.answered.clear();
  } else if (event.type === 'stats') {
    summary.finished = true;
  } else if (event.type === 'host_result' && event.host !== null && isResultWord(event.data.result)) {
    const word = event.data.result;
    summary.counts[word] += 1;
    summary.hosts.add(event.host);
    if (word === 'failed' || word === 'unreachable') summary.failed.add(event.host);
    if (textOf(event.data.task) === summary.task) summary.answered.add(event.host);
  }
}
