/** Lines of a log by their numbers, lines that match, and lines that mark something. */
import { cutText, LineWalk, lineMark, type OnLine, plainLine, SHOWN_CHARACTERS } from '../../domain/runs/log-lines.ts';
import type { LogLine, LogLines, LogMarks, LogSearch } from '../../domain/sessions/log-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { readLastOutput, readOutputAfter } from '../../store/runs/output-reads.ts';
import { isRunRecorded } from '../../store/runs/run-reads.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { type KnownLog, type LogIndexes, type LogPlace, marksOf, PIECES } from './log-index.ts';

export interface LogDependencies {
  db: Db;
  logs: LogIndexes;
}

/** Of which run: what is left out is that of the newest output. */
export interface WantedLog {
  layer?: number | undefined;
  attempt?: number | undefined;
}

/** Characters of a page of lines: what is more is left for the next page. */
const PAGE_CHARACTERS = 1_000_000;

export interface WantedLines extends WantedLog {
  from: number;
  limit: number;
  /** The last so many lines instead. */
  tail?: number | undefined;
  /** Lines of up to 1,000,000 characters whole. */
  whole?: boolean | undefined;
}

/** Returns a page of lines. What lies in a gap is not there: the page goes on behind it. */
export async function readLogLines(deps: LogDependencies, session: SessionRow, wanted: WantedLines): Promise<LogLines> {
  const place = await placeOf(deps.db, session, wanted);
  // First whether more comes: then all that comes is there.
  const complete = await isComplete(deps.db, session, place);
  const log = await deps.logs(place);
  // The log goes on meanwhile: an answer is of what was there at one time.
  const { total, gap } = log;
  const { limit, tail, whole } = wanted;
  const from = tail === undefined ? wanted.from : tailStart(log, tail);
  const most = tail ?? limit;
  const lines: LogLine[] = [];
  let characters = 0;
  let next: number | null = null;
  await walkLines(deps.db, place, log, from, (number, text, length, at) => {
    if (next !== null) return false;
    if (lines.length >= most || characters > PAGE_CHARACTERS || number > total) {
      next = number;
      return false;
    }
    const line = shownLine(number, text, length, at, whole);
    characters += line.text.length;
    lines.push(line);
    return true;
  });
  const { layer, attempt } = place;
  return {
    layer,
    attempt,
    lines,
    total,
    gaps: gap === null ? [] : [gap],
    complete,
    next: next === null ? null : { layer, attempt, from: next, limit },
  };
}

export interface WantedMatches extends WantedLog {
  /** Text that a line has in it; undefined: any. */
  q?: string | undefined;
  /** Whether upper and lower case differ. */
  case?: boolean | undefined;
  /** Only lines that say that a task failed, or that a host was not reached. */
  failures?: boolean | undefined;
  /** Only lines behind this one. */
  after: number;
  limit: number;
}

/** Returns a page of lines that match. `isGone`: the client has left, so the search may stop. */
export async function searchLog(
  deps: LogDependencies,
  session: SessionRow,
  wanted: WantedMatches,
  isGone: () => boolean,
): Promise<LogSearch> {
  const place = await placeOf(deps.db, session, wanted);
  const log = await deps.logs(place);
  const { after, limit, failures, q = '' } = wanted;
  const fold = wanted.case ? (text: string) => text : (text: string) => text.toLowerCase();
  const sought = fold(q);
  const lines: LogLine[] = [];
  let characters = 0;
  let hasMore = false;
  await walkLines(deps.db, place, log, after + 1, (number, text, length, at) => {
    if (hasMore || isGone()) return false;
    if (failures && !isFailure(text)) return true;
    if (sought !== '' && !fold(plainLine(text)).includes(sought)) return true;
    hasMore = lines.length >= limit || characters > PAGE_CHARACTERS;
    if (hasMore) return false;
    const line = shownLine(number, text, length, at);
    characters += line.text.length;
    lines.push(line);
    return true;
  });
  const { layer, attempt } = place;
  const next = { ...wanted, layer, attempt, after: lines.at(-1)?.number ?? after };
  return { layer, attempt, lines, total: log.total, next: hasMore ? next : null };
}

/** Returns the numbers of lines that mark something. */
export async function markLog(
  { db, logs }: LogDependencies,
  session: SessionRow,
  wanted: WantedLog,
): Promise<LogMarks> {
  const place = await placeOf(db, session, wanted);
  const log = await logs(place);
  const { layer, attempt } = place;
  return { layer, attempt, ...marksOf(log), more: log.hasMoreMarks, total: log.total };
}

function isFailure(text: string): boolean {
  const mark = lineMark(text);
  return mark === 'failed' || mark === 'unreachable';
}

async function placeOf(db: Db, session: SessionRow, { layer, attempt }: WantedLog): Promise<LogPlace> {
  const streamId = session.id;
  if (layer !== undefined && attempt !== undefined) return { streamId, layer, attempt };
  const [newest] = await readLastOutput(db, streamId, { layer, attempt }, 1);
  return {
    streamId,
    layer: layer ?? newest?.layer ?? 0,
    attempt: attempt ?? newest?.attempt ?? session.attempt,
  };
}

async function isComplete(db: Db, session: SessionRow, { layer, attempt }: LogPlace): Promise<boolean> {
  return session.stage === 'ended' || (await isRunRecorded(db, session.id, layer, attempt));
}

/** The first of the last so many lines; a gap is none of them. */
function tailStart({ total, gap }: KnownLog, count: number): number {
  const start = Math.max(1, total - count + 1);
  const missing = gap?.lines ?? 0;
  if (gap === null || start > gap.after + missing) return start;
  return Math.max(1, start - missing);
}

/** Tells lines from a number on, the last one too where it has not ended, until the teller says that it is enough. */
async function walkLines(
  db: Db,
  { streamId, layer, attempt }: LogPlace,
  log: KnownLog,
  from: number,
  tell: (...line: [...Parameters<OnLine>, at: Date | null]) => boolean,
): Promise<void> {
  let { seq, ...start } = log.placeBefore(from);
  const walk = new LineWalk(start);
  let isEnough = false;
  let at: Date | null = null;
  const onLine: OnLine = (number, text, length) => {
    if (!isEnough && number >= from) isEnough = !tell(number, text, length, at);
  };
  // A page is mostly in the first pieces.
  for (let count = 1; ; count = Math.min(count * 2, PIECES)) {
    const pieces = await readOutputAfter(db, streamId, { layer, attempt }, seq, count);
    for (const piece of pieces) {
      at = piece.at;
      walk.feed(piece.text, onLine);
      seq = piece.seq;
      if (isEnough) return;
    }
    if (pieces.length < count) break;
  }
  walk.finish(onLine);
}

function shownLine(number: number, text: string, length: number, at: Date | null, whole = false): LogLine {
  const shown = whole ? text : cutText(text, SHOWN_CHARACTERS);
  return { number, text: shown, at: at?.toISOString() ?? null, ...(shown.length < length ? { length } : {}) };
}
