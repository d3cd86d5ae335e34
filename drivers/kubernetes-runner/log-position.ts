import { textChunkLength } from '../../domain/runs/text-chunk.ts';

/** A line that begins otherwise is none of the log: in a log that it cannot read the node writes so itself. */
const STAMP = /^\d{4}-\d\d-\d\dT/;
const NEWLINE = 10;
const SPACE = 32;
/** Lines of the last seconds are known by their times, so that a log that is read again from there is told once. */
const WINDOW_MS = 2_000;
/** Times that are kept before those outside of the window are dropped. */
const SEEN_MAX = 10_000;
/** A line that is longer is handed over in pieces of about so many bytes. */
const PIECE = 1024 * 1024;

/** Whether an answer begins with the log, and not with the words of a node that has none. */
export function isLog(beginning: Buffer): boolean {
  return STAMP.test(beginning.toString('latin1', 0, 16));
}

export interface LogPart {
  /** Bytes of the log at which it begins and ends. */
  start: number;
  end: number;
  text: string;
}

/**
 * Where one is in a log whose lines come with their times (`<time> <text>`), and what of it was told. After a cut it is read again
 * from `since` on; lines that were told before are left out.
 */
export interface LogPosition {
  /** From when on to read, RFC 3339 with whole seconds as Kubernetes passes it on; null: from the beginning. */
  since(): string | null;
  /** A new reading begins at `since`. */
  restart(): void;
  /** Parts that are new in what was read. */
  take(chunk: Buffer): LogPart[];
  /** The log is over: what stands after its last newline. */
  finish(): LogPart[];
}

/** A position at byte `from`, at which everything before was told. */
export function createLogPosition(from: number): LogPosition {
  /** Bytes of the log that were seen, of which those before `from` are not told. */
  let at = 0;
  /** Time of the latest line, ms; null before the first. */
  let newest: number | null = null;
  /** How often a time was seen, in the window that is read again; and of those what is still to come again. */
  const seen = new Map<string, number>();
  let again = new Map<string, number>();
  /** What was read of a line and not handed over yet. */
  let rest: Buffer[] = [];
  let restBytes = 0;
  /** The line of which pieces were read; whether it was told before, and how many bytes of its text were read. */
  let line: { stamp: string; known: boolean; read: number } | null = null;
  /** The line of which pieces were told, and how many bytes: read again after a cut it goes on behind them. */
  let half = { stamp: '', told: 0 };

  /** Drops the times that are never read again. */
  const forget = () => {
    const first = firstOf(newest ?? 0);
    for (const stamp of seen.keys()) if (Date.parse(stamp) < first) seen.delete(stamp);
  };

  /** What is new in the next piece of a line. */
  const next = (bytes: Buffer, ends: boolean): LogPart | null => {
    let text = bytes;
    if (line === null) {
      const gap = bytes.indexOf(SPACE);
      const stamp = bytes.subarray(0, Math.max(gap, 0)).toString('latin1');
      text = bytes.subarray(gap + 1);
      const left = again.get(stamp) ?? 0;
      if (left > 0) again.set(stamp, left - 1);
      const known = left > 0 || !STAMP.test(stamp);
      line = { stamp, known, read: 0 };
      if (!known && stamp !== half.stamp) half = { stamp, told: 0 };
    }
    const { stamp, known, read } = line;
    line = ends ? null : { stamp, known, read: read + text.length };
    if (known) return null;
    const fresh = text.subarray(Math.max(half.told - read, 0));
    half = { stamp, told: half.told + fresh.length };
    if (ends) ended(stamp);
    const start = at;
    at += fresh.length;
    if (at <= from) return null;
    const own = fresh.subarray(Math.max(from - start, 0));
    return { start: Math.max(start, from), end: at, text: own.toString('utf8') };
  };

  /** A line was told to its end. */
  const ended = (stamp: string) => {
    half = { stamp: '', told: 0 };
    seen.set(stamp, (seen.get(stamp) ?? 0) + 1);
    newest = Math.max(newest ?? 0, Date.parse(stamp));
    if (seen.size > SEEN_MAX) forget();
  };

  /** Keeps what was read of a line; answers it once it is whole, or long enough. */
  const keep = (bytes: Buffer, ends: boolean): LogPart | null => {
    rest.push(bytes);
    restBytes += bytes.length;
    if (!ends && restBytes < PIECE) return null;
    const whole = Buffer.concat(rest);
    const length = textChunkLength(whole, ends);
    rest = length < whole.length ? [whole.subarray(length)] : [];
    restBytes = whole.length - length;
    return next(whole.subarray(0, length), ends);
  };

  return {
    since() {
      if (newest === null) return null;
      forget();
      return new Date(firstOf(newest)).toISOString();
    },
    restart() {
      again = new Map(seen);
      rest = [];
      restBytes = 0;
      line = null;
    },
    take(chunk) {
      const parts: (LogPart | null)[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        parts.push(keep(chunk.subarray(start, end + 1), true));
        start = end + 1;
      }
      if (start < chunk.length) parts.push(keep(chunk.subarray(start), false));
      return joined(parts.filter((part) => part !== null));
    },
    finish() {
      const part = restBytes === 0 ? null : keep(Buffer.alloc(0), true);
      return part === null ? [] : [part];
    },
  };
}

/** Where the window before a line begins, ms; whole seconds, which is what Kubernetes passes on. */
function firstOf(newest: number): number {
  return Math.floor(newest / 1000) * 1000 - WINDOW_MS;
}

/** Parts that follow one another as one. */
function joined(parts: LogPart[]): LogPart[] {
  const [first, ...others] = parts;
  if (first === undefined) return [];
  const end = others.at(-1)?.end ?? first.end;
  return [{ start: first.start, end, text: first.text + others.map(({ text }) => text).join('') }];
}
