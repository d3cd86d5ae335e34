import { once } from 'node:events';
import { type ForegroundOptions, type ForegroundStack, startInForeground } from './foreground.ts';
import { outliveReader } from './lost-reader.ts';
import { StackError } from './stack-error.ts';
import type { StackState } from './stack-state.ts';

/** What a stack in the background tells the command that started it. */
export type BackgroundMessage =
  | { type: 'progress'; line: string }
  | { type: 'up'; state: StackState }
  | { type: 'failed'; message: string; exit: number };

/**
 * The whole life of a stack in this process; answers the exit status: 0 when it was stopped, else why it did not start.
 * With a parent on an IPC channel (`muster up`) progress goes there, and the log keeps the lines in any case.
 */
export async function runStack(options: Omit<ForegroundOptions, 'say'>): Promise<number> {
  outliveReader();
  const tell = (message: BackgroundMessage): void => {
    // A parent that ends just now is none any more.
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  const say = (line: string): void => {
    process.stderr.write(`${process.send ? `${new Date().toISOString()} ` : '  '}${line}\n`);
    tell({ type: 'progress', line });
  };
  try {
    const stack = await startInForeground({ ...options, say });
    for (const line of linksOf(stack.state)) say(line);
    tell({ type: 'up', state: stack.state });
    if (process.connected) process.disconnect();
    await untilInterrupted(stack);
    say('stopping');
    await stack.stop();
    say('stopped');
    return 0;
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    process.stderr.write(`${error.message}\n`);
    tell({ type: 'failed', message: error.message, exit: error.exit });
    return error.exit;
  }
}

/** The addresses a user wants to see, one line each. */
export function linksOf({ links }: StackState): string[] {
  return [
    // A former release has none.
    ...(links.ui ? [`Web UI:         ${links.ui}`] : []),
    `API:            ${links.api}`,
    `API docs:       ${links.docs}`,
    ...(links.temporal_ui ? [`Temporal web UI: ${links.temporal_ui}`] : []),
  ];
}

async function untilInterrupted({ interrupted }: ForegroundStack): Promise<void> {
  if (!interrupted.aborted) await once(interrupted, 'abort');
}
