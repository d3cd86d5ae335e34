import { setTimeout as pause } from 'node:timers/promises';
import type { CliContext } from './context.ts';
import { CliFailure, EXIT } from './failure.ts';
import type { WatchOptions } from './options.ts';

const CLEAR_SCREEN = '\u001b[H\u001b[2J\u001b[3J';
const DEFAULT_PERIOD = 2;

/**
 * Runs `show` once, or for `--watch` again and again until Ctrl-C. A terminal is cleared before each; a pipe gets each answer
 * below the last. An API that is away for a while is said and asked again.
 */
export async function watching(context: CliContext, options: WatchOptions, show: () => Promise<void>): Promise<void> {
  if (options.watch === undefined) return show();
  const period = (options.watch === true ? DEFAULT_PERIOD : options.watch) * 1000;
  while (!context.signal.aborted) {
    if (context.out.terminal) context.out.write(CLEAR_SCREEN);
    try {
      await show();
    } catch (error) {
      if (!(error instanceof CliFailure) || error.exit !== EXIT.unreachable) throw error;
      context.err.write(`${error.message}; asking again\n`);
    }
    await pause(period, undefined, { signal: context.signal }).catch(() => undefined);
  }
  context.exit = EXIT.interrupted;
}
