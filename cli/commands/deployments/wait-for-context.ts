import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ApiClient } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted } from '../../failure.ts';
import { seconds } from '../../input/pairs.ts';
import { countsText } from './deployment-view.ts';
import type { DeploymentStatus } from './status-answer.ts';

/** Time between two looks, ms. */
export const LOOK_MS = 1_000;

/** Adds `--wait` and `--timeout`, of a verb after which an AppContext is at work. */
export const withContextWait = (command: Command): Command =>
  command
    .option('--wait', 'wait for the end; its success is the exit status')
    .option('--timeout <seconds>', 'stop waiting after so long (exit status 6); the deployment goes on', seconds);

/** Ends of an AppContext with the exit status of each. */
const ENDS: Readonly<Record<string, number>> = {
  Instantiated: EXIT.done,
  Terminated: EXIT.done,
  InstantiateFailed: EXIT.failed,
  TerminateFailed: EXIT.failed,
};

/** Waits until the AppContext of a deployment has come to an end, which is the exit status. Throws `timed_out`. */
export async function waitForContext(
  context: CliContext,
  api: ApiClient,
  { name, path, timeout }: { name: string; path: string; timeout: number | undefined },
): Promise<void> {
  const until = timeout === undefined ? undefined : context.now() + timeout * 1_000;
  for (;;) {
    const query = { type: 'rsync', output: 'summary' };
    const { status, ...shown } = await api.json<DeploymentStatus>({ method: 'GET', path: `${path}/status`, query });
    const counts = countsText(shown['rsync-status'] ?? {});
    const exit = status === undefined ? EXIT.done : ENDS[status];
    if (exit !== undefined) {
      say(context, `deployment ${name}: ${[status ?? shown.state, counts].filter((text) => text !== '').join(', ')}`);
      context.exit = exit;
      return;
    }
    if (until !== undefined && context.now() >= until) {
      throw new CliFailure('timed_out', `deployment ${name} is ${status} after ${timeout} s: ${counts}`, EXIT.timedOut);
    }
    await pause(LOOK_MS, undefined, { signal: context.signal }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted();
  }
}
