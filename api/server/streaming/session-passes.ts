/** What each kind of live stream tells of a session. */
import { isDeepStrictEqual } from 'node:util';
import type { StreamState } from '../../../domain/runs/stream-schema.ts';
import type { SessionHost, SessionProgress } from '../../../domain/sessions/detail-schema.ts';
import type { RunResults } from '../../../store/runs/host-result-reads.ts';
import type { SessionStreamState } from '../../../store/sessions/session-reads.ts';
import type { Pass } from './event-stream.ts';

/** Rows that are read at once; with back-pressure this is what a slow reader holds. */
export const STREAM_PAGE = 200;

export interface PassRows<Row extends { seq: number }> {
  /** Up to which number everything can be read. */
  head(state: StreamState): number;
  /** At most STREAM_PAGE rows above a number; a head that was seen before is part of the call. */
  after(seq: number, head: number): Promise<Row[]>;
}

/** Rows above `after` in order of their numbers, each once, as messages called `event`. */
export function rowPass<Row extends { seq: number }>(source: PassRows<Row>, after: number, event: string): Pass {
  let at = after;
  return async function* (state) {
    const head = source.head(state);
    while (at < head) {
      const rows = await source.after(at, head);
      for (const row of rows) {
        at = row.seq;
        yield { id: row.seq, event, data: row };
      }
      // Rows that a filter leaves out are never looked at again.
      if (rows.length < STREAM_PAGE) at = Math.max(at, head);
    }
  };
}

/** The progress whenever it has changed; the elapsed time alone is no change. */
export function progressPass(read: (state: SessionStreamState) => Promise<SessionProgress>): Pass<SessionStreamState> {
  let told: SessionProgress | null = null;
  return async function* (state) {
    const now = await read(state);
    if (told !== null && isDeepStrictEqual({ ...told, elapsed: now.elapsed }, now)) return;
    told = now;
    yield { id: now.seq, event: 'progress', data: now };
  };
}

export interface HostStream {
  /** Number of the last event whose hosts the reader has; null: it has nothing. */
  after: number | null;
  /** At most STREAM_PAGE hosts after a name, of all. */
  all(after: string): Promise<SessionHost[]>;
  /** The same of those with task results among the events above `above` up to `upTo`. */
  touched(above: number, upTo: number, after: string): Promise<SessionHost[]>;
  /** The same of those with a result in a run. */
  ofRun(run: RunResults, after: string): Promise<SessionHost[]>;
  /** Runs with stored results. */
  runs(): Promise<RunResults[]>;
  /** Time of an event, null when there is none up to it. */
  timeOf(seq: number): Promise<Date | null>;
}

/**
 * Each host as it stands, again whenever it got a task result or its run's results were stored. Only the last message of
 * a round has an id: a reader that breaks off in between gets the whole round again.
 */
export function hostPass(source: HostStream): Pass {
  let at = source.after;
  let first = true;
  const known = new Map<string, number>();

  const pages = async function* (list: (after: string) => Promise<SessionHost[]>): AsyncGenerator<SessionHost> {
    for (let after = ''; ; ) {
      const hosts = await list(after);
      yield* hosts;
      const last = hosts.at(-1);
      if (last === undefined || hosts.length < STREAM_PAGE) return;
      after = last.host;
    }
  };
  const round = async function* (from: number | null, head: number): AsyncGenerator<SessionHost> {
    const runs = await source.runs();
    if (from === null) {
      yield* pages(source.all);
    } else {
      const since = first ? ((await source.timeOf(from))?.getTime() ?? 0) : null;
      if (head > from) yield* pages((after) => source.touched(from, head, after));
      for (const run of runs) {
        const changed = run.changedAt?.getTime() ?? 0;
        const isNew = since === null ? known.get(run.id) !== changed : changed >= since;
        if (isNew) yield* pages((after) => source.ofRun(run, after));
      }
    }
    for (const run of runs) known.set(run.id, run.changedAt?.getTime() ?? 0);
    first = false;
  };

  return async function* (state) {
    const head = state.lastEvent;
    let held: SessionHost | null = null;
    for await (const host of round(at, head)) {
      if (held !== null) yield { event: 'host', data: held };
      held = host;
    }
    at = head;
    if (held !== null) yield { id: head, event: 'host', data: held };
  };
}
