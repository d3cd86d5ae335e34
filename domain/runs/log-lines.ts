/** Output as numbered lines. Pieces come in any size; lines keep the numbers that they had before a log was cut. */

/** Characters of a line that a page of lines shows. */
export const SHOWN_CHARACTERS = 4_000;
/** Characters of a line that are kept at all: what is longer is cut there. */
export const KEPT_CHARACTERS = 1_000_000;

/** What was left out of a log that was too long. */
export interface LogGap {
  /** Number of the last line before it. */
  after: number;
  /** How many lines are missing; null where a launcher of an older release did not say. */
  lines: number | null;
  bytes: number;
}

/** What the launcher writes where it left output out (`output_log.py`). */
const GAP = /^\[muster\] (?:([0-9]{1,10}) lines, )?([0-9]{1,15}) bytes of output were left out here$/;
const GAP_START = '[muster] ';

/** Is told each line as soon as it has ended; `length` counts all of its characters, `text` may have fewer. */
export type OnLine = (number: number, text: string, length: number) => void;

/** How far a walk has come. */
export interface WalkPlace {
  /** Number of the next line. */
  next: number;
  gap: LogGap | null;
}

/** Goes through output piece by piece, in flat memory. */
export class LineWalk {
  private next: number;
  private found: LogGap | null;
  /** The beginning of a line that has not ended, and how long it is by now. */
  private open = '';
  private openLength = 0;
  /** The last line was empty: the launcher's note would make it its own. */
  private isEmptyHeld = false;
  private readonly kept: number;

  /** @param kept characters of a line that are kept */
  constructor({ next, gap }: WalkPlace = { next: 1, gap: null }, kept = KEPT_CHARACTERS) {
    this.next = next;
    this.found = gap;
    this.kept = kept;
  }

  /** Takes a piece; tells the lines that end in it. */
  feed(text: string, onLine: OnLine): void {
    let start = 0;
    for (;;) {
      const end = text.indexOf('\n', start);
      if (end < 0) break;
      if (this.openLength === 0) this.line(text.slice(start, Math.min(end, start + this.kept)), end - start, onLine);
      else {
        this.keep(text, start, end);
        const [line, length] = [this.open, this.openLength];
        this.open = '';
        this.openLength = 0;
        this.line(line, length, onLine);
      }
      start = end + 1;
    }
    if (start < text.length) this.keep(text, start, text.length);
  }

  /** Tells what has not ended with a line end, at the end of all that there is. The walk is over then. */
  finish(onLine: OnLine): void {
    this.release(onLine);
    if (this.openLength > 0) onLine(this.next, this.open, this.openLength);
  }

  /** Where the walk stands, when it can be taken up from here; null inside a line. */
  place(): WalkPlace | null {
    return this.openLength > 0 || this.isEmptyHeld ? null : { next: this.next, gap: this.found };
  }

  /** Number of the last line that has begun. */
  total(): number {
    return this.next - 1 + (this.isEmptyHeld ? 1 : 0) + (this.openLength > 0 ? 1 : 0);
  }

  gap(): LogGap | null {
    return this.found;
  }

  private keep(text: string, start: number, end: number): void {
    const room = this.kept - this.open.length;
    if (room > 0) this.open += text.slice(start, Math.min(end, start + room));
    this.openLength += end - start;
  }

  private line(text: string, length: number, onLine: OnLine): void {
    if (this.found === null && text.startsWith(GAP_START)) {
      const [isNote, lines, bytes] = GAP.exec(text) ?? [];
      if (isNote !== undefined) {
        this.isEmptyHeld = false;
        this.found = { after: this.next - 1, lines: lines === undefined ? null : Number(lines), bytes: Number(bytes) };
        this.next += this.found.lines ?? 0;
        return;
      }
    }
    this.release(onLine);
    if (length === 0) this.isEmptyHeld = true;
    else onLine(this.next++, text, length);
  }

  private release(onLine: OnLine): void {
    if (!this.isEmptyHeld) return;
    this.isEmptyHeld = false;
    onLine(this.next++, '', 0);
  }
}

/** Sequences for a terminal: colours, cursor, titles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with ESC, and some end with BEL
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Returns a line without what is meant for a terminal. */
export function plainLine(text: string): string {
  return text.includes('\u001b') ? text.replace(TERMINAL, '') : text;
}

/** What a line may mark. */
export const LINE_MARKS = ['failed', 'unreachable', 'task', 'play'] as const;
export type LineMark = (typeof LINE_MARKS)[number];

/** Returns what a line of Ansible's output marks; null: nothing. */
export function lineMark(text: string): LineMark | null {
  const line = plainLine(text);
  switch (line[0]) {
    case 'f':
      if (!/^(?:fatal|failed): \[/.test(line)) return null;
      return line.includes('UNREACHABLE!') ? 'unreachable' : 'failed';
    case 'T':
      return line.startsWith('TASK [') ? 'task' : null;
    case 'R':
      return line.startsWith('RUNNING HANDLER [') ? 'task' : null;
    case 'P':
      return line.startsWith('PLAY [') ? 'play' : null;
    default:
      return null;
  }
}

/** Returns at most so many characters of a text, never half of one. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}
