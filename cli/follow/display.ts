import { type CliContext, say } from '../context.ts';
import { oneLine } from '../terminal/neutralise.ts';
import { type Followed, liveLine, stepOf } from './session-line.ts';

const CLEAR_LINE = '\r\u001b[K';

/** Shows a followed session on stderr: one line that changes on a terminal, a message per step elsewhere. */
export interface Display {
  /** Takes over what is new. */
  update(news: Followed): void;
  /** A message that stays. */
  note(text: string): void;
  /** Removes the live line. */
  close(): void;
}

/** The display that fits stderr. */
export function openDisplay(context: CliContext): Display {
  return context.err.terminal && !context.quiet ? terminalDisplay(context) : plainDisplay(context);
}

function terminalDisplay(context: CliContext): Display {
  const start = context.now();
  const followed: Followed = {};
  const draw = (): void =>
    context.err.write(`${CLEAR_LINE}${liveLine(followed, context.now() - start, context.err.columns())}`);
  const timer = setInterval(draw, 1000);
  draw();
  return {
    update: (news) => {
      Object.assign(followed, news);
      draw();
    },
    note: (text) => {
      context.err.write(CLEAR_LINE);
      say(context, text);
      draw();
    },
    close: () => {
      clearInterval(timer);
      context.err.write(CLEAR_LINE);
    },
  };
}

/** A step without who holds a slot and for how long: a new second there is no news that is worth a line. */
const whatItSays = (step: string): string => step.replace(/(waits for a slot: \d+ of \d+ taken).*/, '$1');

function plainDisplay(context: CliContext): Display {
  const followed: Followed = {};
  let last = '';
  return {
    update: (news) => {
      Object.assign(followed, news);
      const { progress, queuePlace } = followed;
      if (progress === undefined || progress.status === 'complete') return;
      // The place comes a moment later, and one line says both.
      if (progress.phase === 'queued' && queuePlace === undefined) return;
      const step = oneLine(stepOf(followed));
      const what = whatItSays(step);
      if (what !== last) say(context, step);
      last = what;
    },
    note: (text) => say(context, text),
    close: () => undefined,
  };
}
