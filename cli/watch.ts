import { setTimeout as pause } from 'node:timers/promises';
import { type CliContext, type Sink, say } from './context.ts';
import { CliFailure, EXIT } from './failure.ts';
import type { WatchOptions } from './options.ts';
import { cutTo } from './output/display-width.ts';

/** The alternate screen without a cursor, and back: what stood on the terminal before stands there again. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const END_OF_LINE = '\u001b[K';
const END_OF_SCREEN = '\u001b[J';
const DEFAULT_PERIOD = 2;
/** Lines of a terminal that does not say its height. */
const USUAL_ROWS = 24;
/** After so long without another change of size the records are shown anew, ms. */
const RESIZED = 200;

/**
 * Runs `show` once, or for `--watch` again and again until Ctrl-C: on the alternate screen of a terminal, which keeps the first lines that it has
 * room for; a pipe gets each answer below the last. An API that is away for a while is said and asked again.
 */
export async function watching(context: CliContext, options: WatchOptions, show: () => Promise<void>): Promise<void> {
  if (options.watch === undefined) return show();
  const period = (options.watch === true ? DEFAULT_PERIOD : options.watch) * 1000;
  const looking = context.out.terminal ? watchOnScreen : watchInLines;
  await looking(context, period, () => unlessAway(context, show));
  context.exit = EXIT.interrupted;
}

async function unlessAway(context: CliContext, show: () => Promise<void>): Promise<void> {
  try {
    await show();
  } catch (error) {
    if (!(error instanceof CliFailure) || error.exit !== EXIT.unreachable) throw error;
    say(context, `${error.message}; asking again`);
  }
}

async function watchInLines({ signal }: CliContext, period: number, show: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await show();
    await pause(period, undefined, { signal }).catch(() => undefined);
  }
}

async function watchOnScreen(context: CliContext, period: number, show: () => Promise<void>): Promise<void> {
  const { out, err, signal } = context;
  // A second Ctrl-C ends the process at once.
  const leave = (): void => out.write(LEAVE);
  process.once('exit', leave);
  const sizes = sizeChanges(out);
  out.write(ENTER);
  try {
    while (!signal.aborted) {
      // Also a change while the records are asked for shows them anew.
      const woken = AbortSignal.any([signal, sizes.next()]);
      const parts: string[] = [];
      const gathered: Sink = { ...out, write: (part) => void parts.push(part) };
      context.out = gathered;
      context.err = gathered;
      await show().finally(() => Object.assign(context, { out, err }));
      if (!signal.aborted) out.write(screen(parts.join(''), out));
      await pause(period, undefined, { signal: woken }).catch(() => undefined);
    }
  } finally {
    sizes.close();
    process.off('exit', leave);
    leave();
  }
}

/** The text as a whole screen: its first lines, each cut to the width, and how many more there are. */
export function screen(text: string, { columns, rows = () => USUAL_ROWS }: Pick<Sink, 'columns' | 'rows'>): string {
  const lines = text.replace(/\n$/, '').replaceAll('\t', '    ').split('\n');
  const [width, height] = [Math.max(1, columns()), Math.max(2, rows())];
  const shown = lines.length <= height ? lines : lines.slice(0, height - 1);
  const more = lines.length - shown.length;
  const all = more > 0 ? [...shown, `${more} more lines`] : shown;
  return `${HOME}${all.map((line) => `${cutTo(line, width)}${END_OF_LINE}`).join('\r\n')}${END_OF_SCREEN}`;
}

/** Signals for the next change of a terminal's size, each aborted a moment after it. */
function sizeChanges(out: Sink): { next(): AbortSignal; close(): void } {
  let next = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const unlisten = out.onResize?.(() => {
    clearTimeout(timer);
    timer = setTimeout(() => next.abort(), RESIZED);
  });
  return {
    next: () => {
      next = new AbortController();
      return next.signal;
    },
    close: () => {
      clearTimeout(timer);
      unlisten?.();
    },
  };
}
