const NEWLINE = 10;
const SPACE = 32;
/** Lines of the last seconds are known by their times, so that a log that is read again from there is told once. */
const WINDOW_MS = 2_000;
/** Times that are kept before those outside of the window are dropped. */
const SEEN_MAX = 10_000;

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
  let rest: Buffer[] = [];

  /** Drops the times that are never read again. */
  const forget = () => {
    const first = firstOf(newest ?? 0);
    for (const stamp of seen.keys()) if (Date.parse(stamp) < first) seen.delete(stamp);
  };

  const line = (stamped: Buffer): LogPart | null => {
    const gap = stamped.indexOf(SPACE);
    const stamp = stamped.subarray(0, Math.max(gap, 0)).toString('latin1');
    const left = again.get(stamp) ?? 0;
    if (left > 0) {
      again.set(stamp, left - 1);
      return null;
    }
    seen.set(stamp, (seen.get(stamp) ?? 0) + 1);
    newest = Math.max(newest ?? 0, Date.parse(stamp));
    if (seen.size > SEEN_MAX) forget();
    const text = stamped.subarray(gap + 1);
    const start = at;
    at += text.length;
    if (at <= from) return null;
    const own = text.subarray(Math.max(from - start, 0));
    return { start: Math.max(start, from), end: at, text: own.toString('utf8') };
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
    },
    take(chunk) {
      const parts: LogPart[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        rest.push(chunk.subarray(start, end + 1));
        const part = line(Buffer.concat(rest));
        if (part !== null) parts.push(part);
        rest = [];
        start = end + 1;
      }
      if (start < chunk.length) rest.push(chunk.subarray(start));
      return joined(parts);
    },
    finish() {
      const part = rest.length === 0 ? null : line(Buffer.concat(rest));
      rest = [];
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
