/** Output of a playbook as lines of a page: text alone, whatever a host has written. */
import { shownText } from '../../shared/ui/shown-text.ts';

/** Longest line that is shown whole, in characters. */
const LONGEST = 4_000;
/** Sequences for a terminal: colours, cursor, titles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with ESC, and some end with BEL
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Returns the lines of a piece of output that begins at a line's start; the last one may go on. */
export function shownLines(text: string): string[] {
  return text.split('\n').map(shownLine);
}

/** Of a line that was written again and again, as bars of progress are, the last state is shown. */
function shownLine(line: string): string {
  const [last = ''] = line.replace(/\r+$/, '').split('\r').slice(-1);
  const cut = last.length > LONGEST ? last.slice(0, LONGEST) : last;
  const text = cut.replace(TERMINAL, '').split('\t').map(shownText).join('\t');
  return last.length > LONGEST ? `${text} ... ${last.length - LONGEST} more characters` : text;
}

/** What a page has of a log. */
export interface KeptLog {
  /** Number of the last piece. */
  cursor: number;
  /** The newest output, from the start of a line on. */
  text: string;
  /** Whether there was more before. */
  isCut: boolean;
}

/** Most that a page keeps, in characters; what is older goes, by whole lines. */
export const KEPT_MAX = 500_000;

/** Returns a log with more pieces at its end. */
export function withPieces(log: KeptLog, pieces: readonly { seq: number; text: string }[], max = KEPT_MAX): KeptLog {
  const text = log.text + pieces.map((piece) => piece.text).join('');
  const cursor = pieces.at(-1)?.seq ?? log.cursor;
  if (text.length <= max) return { ...log, cursor, text };
  const from = text.indexOf('\n', text.length - max);
  return { cursor, text: from < 0 ? text.slice(-max) : text.slice(from + 1), isCut: true };
}
