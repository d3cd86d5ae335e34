/** A line of output as text of a page: of codes for a terminal only weight and the 16 colours survive. */
import { shownText } from '../../shared/ui/shown-text.ts';

export interface Span {
  text: string;
  /** Words of its class; '': it looks as text does. */
  style: string;
}

/** Sequences for a terminal: colours, cursor, titles; the first group has the numbers of a colour. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with ESC, and some end with BEL
const TERMINAL = /\u001b(?:\[([0-9;]*)m|\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Spans of a line at most: what comes behind them looks as the last one does. A page with very many elements stands still. */
const SPANS = 500;

interface Look {
  isBold: boolean;
  colour: number | null;
}

/** Returns a line as it is drawn. Of one that was written again and again, as bars of progress are, the last state is shown. */
export function lineSpans(line: string): Span[] {
  let spans: Span[] = [];
  const look: Look = { isBold: false, colour: null };
  // A return alone takes nothing away: what is written then does.
  let isReturned = false;
  const add = (part: string) => {
    for (const [place, state] of part.split('\r').entries()) {
      isReturned ||= place > 0;
      if (state === '') continue;
      if (isReturned) spans = [];
      isReturned = false;
      const text = state.split('\t').map(shownText).join('\t');
      const last = spans.at(-1);
      if (last === undefined || spans.length < SPANS) spans.push({ text, style: styleOf(look) });
      else last.text += text;
    }
  };
  let end = 0;
  for (const code of line.matchAll(TERMINAL)) {
    add(line.slice(end, code.index));
    end = code.index + code[0].length;
    if (code[1] !== undefined) turn(look, code[1]);
  }
  add(line.slice(end));
  return spans;
}

/** Whether a line has a text in it, as the API looks for it: codes for a terminal and case are no part of a line. */
export function hasText(line: string, text: string): boolean {
  return line.replace(TERMINAL, '').toLowerCase().includes(text.toLowerCase());
}

function styleOf({ isBold, colour }: Look): string {
  return [isBold ? 'bold' : '', colour === null ? '' : `ansi-${colour}`].filter((word) => word !== '').join(' ');
}

/** Colours of a background, underlines and the like change nothing. */
function turn(look: Look, numbers: string): void {
  const codes = numbers.split(';').map(Number);
  for (let place = 0; place < codes.length; place += 1) {
    const code = codes[place] ?? 0;
    // Colours of 256 or more: what follows are their numbers.
    if (code === 38 || code === 48) place += codes[place + 1] === 5 ? 2 : 4;
    else if (code === 0) Object.assign(look, { isBold: false, colour: null });
    else if (code === 1) look.isBold = true;
    else if (code === 22) look.isBold = false;
    else if (code === 39) look.colour = null;
    else if (code >= 30 && code <= 37) look.colour = code - 30;
    else if (code >= 90 && code <= 97) look.colour = code - 82;
  }
}
