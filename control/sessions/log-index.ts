/** Where the lines of a log are: counted when they are first asked for, and from there on as output comes. */
import {
  LINE_MARKS,
  type LineMark,
  LineWalk,
  type LogGap,
  lineMark,
  type WalkPlace,
} from '../../domain/runs/log-lines.ts';
import type { Db } from '../../store/connection/database.ts';
import { readOutputAfter } from '../../store/runs/output-reads.ts';

/** Output of one layer in one attempt. */
export interface LogPlace {
  streamId: string;
  layer: number;
  attempt: number;
}

/** What is known of a log by now. */
export interface KnownLog {
  total: number;
  gap: LogGap | null;
  marks: Readonly<Record<LineMark, readonly number[]>>;
  /** Whether there are more marks than are kept. */
  hasMoreMarks: boolean;
  /** Returns the last place at or before a line where reading can begin, and the piece behind which it does. */
  placeBefore(line: number): WalkPlace & { seq: number };
}

/** Looks up the logs of a process. */
export type LogIndexes = (place: LogPlace) => Promise<KnownLog>;

/** Pieces of output that are read at once: 2 MiB of text at most. */
export const PIECES = 8;
/** So much output lies between two places where reading can begin, characters. */
const APART = 64 * 1024;
/** Marks of each kind that are kept. */
const MARKS_MAX = 10_000;
/** Logs that a process knows: the longest of them takes some 300 KB. */
const LOGS_MAX = 64;

/**
 * Returns what knows logs. Nothing of an index is stored: releases side by side need no agreement on it, and counting 64 MiB takes about a second.
 * Logs that were not asked for longest are forgotten.
 */
export function createLogIndexes(db: Db): LogIndexes {
  const known = new Map<string, { index: LogIndex; done: Promise<unknown> }>();
  return async (place) => {
    const key = `${place.streamId} ${place.layer} ${place.attempt}`;
    const entry = known.get(key) ?? { index: new LogIndex(place), done: Promise.resolve() };
    known.delete(key);
    known.set(key, entry);
    for (const oldest of known.keys()) {
      if (known.size <= LOGS_MAX) break;
      known.delete(oldest);
    }
    // One reader of output at a time; each has all that was there when it asked.
    const mine = entry.done.catch(() => undefined).then(() => entry.index.readOn(db));
    entry.done = mine;
    await mine;
    return entry.index;
  };
}

class LogIndex implements KnownLog {
  readonly marks: Record<LineMark, number[]> = { failed: [], unreachable: [], task: [], play: [] };
  hasMoreMarks = false;
  private readonly place: LogPlace;
  private readonly walk = new LineWalk(undefined, 200);
  private readonly places: (WalkPlace & { seq: number })[] = [{ seq: 0, next: 1, gap: null }];
  private seq = 0;
  private sincePlace = 0;

  constructor(place: LogPlace) {
    this.place = place;
  }

  get total(): number {
    return this.walk.total();
  }

  get gap(): LogGap | null {
    return this.walk.gap();
  }

  placeBefore(line: number): WalkPlace & { seq: number } {
    let [low, high] = [0, this.places.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.places[middle]?.next ?? 0) <= line) low = middle;
      else high = middle - 1;
    }
    return this.places[low] ?? { seq: 0, next: 1, gap: null };
  }

  async readOn(db: Db): Promise<void> {
    const { streamId, ...filter } = this.place;
    for (;;) {
      const pieces = await readOutputAfter(db, streamId, filter, this.seq, PIECES);
      for (const { seq, text } of pieces) {
        this.walk.feed(text, this.mark);
        this.seq = seq;
        this.sincePlace += text.length;
        const place = this.walk.place();
        if (place === null || this.sincePlace < APART) continue;
        this.places.push({ ...place, seq });
        this.sincePlace = 0;
      }
      if (pieces.length < PIECES) return;
    }
  }

  private readonly mark = (number: number, text: string): void => {
    const mark = lineMark(text);
    if (mark === null) return;
    if (this.marks[mark].length < MARKS_MAX) this.marks[mark].push(number);
    else this.hasMoreMarks = true;
  };
}

/** Returns the marks of a log as an answer has them: copies, since a log goes on. */
export function marksOf({ marks }: KnownLog): Record<LineMark, number[]> {
  return Object.fromEntries(LINE_MARKS.map((mark) => [mark, [...marks[mark]]])) as Record<LineMark, number[]>;
}
