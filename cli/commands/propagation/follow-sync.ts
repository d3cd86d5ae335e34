import { setTimeout as pause } from 'node:timers/promises';
import type { RepositoryView } from '../../../domain/propagation/schema.ts';
import type { ApiClient, ApiRequest } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { absentWorker } from '../../follow/absent-worker.ts';
import { duration } from '../../output/times.ts';
import { oneLine } from '../../terminal/neutralise.ts';
import { failureLine } from './repository-view.ts';

/** How often the state is read (ms). */
const PERIOD = 1_000;

/**
 * Waits until the sync of a repository has ended; its success is the exit status. An API that goes away is waited for.
 * Throws `timed_out` after the timeout (s).
 */
export async function followSync(
  context: CliContext,
  api: ApiClient,
  path: string,
  { timeout }: { timeout?: number | undefined },
): Promise<void> {
  const until = timeout === undefined ? Number.POSITIVE_INFINITY : context.now() + timeout * 1_000;
  const lookForWorkers = absentWorker(context, api, (text) => say(context, text));
  for (;;) {
    const read = await stateOf(context, api, path);
    if (read !== undefined && read.state !== 'syncing') return tellEnd(context, read);
    if (context.signal.aborted) {
      say(context, 'the sync goes on');
      context.exit = EXIT.interrupted;
      return;
    }
    if (read !== undefined) await lookForWorkers();
    if (context.now() >= until) {
      const text = `the sync has not ended within ${duration((timeout ?? 0) * 1_000)}; it goes on`;
      throw new CliFailure('timed_out', text, EXIT.timedOut);
    }
    await pause(PERIOD, undefined, { signal: context.signal }).catch(() => undefined);
  }
}

/** The repository; undefined while the API does not answer. */
async function stateOf(context: CliContext, api: ApiClient, path: string): Promise<RepositoryView | undefined> {
  const request: ApiRequest = { method: 'GET', path };
  try {
    return await api.json<RepositoryView>(request);
  } catch (error) {
    if (context.signal.aborted) return undefined;
    if (!(error instanceof CliFailure) || error.exit !== EXIT.unreachable) throw error;
    say(context, `${error.message}; the sync goes on, trying again`);
    return undefined;
  }
}

function tellEnd(context: CliContext, read: RepositoryView): void {
  const failure = failureLine(read);
  if (read.state === 'synced') {
    say(context, `repository ${read.name} is synced: commit ${read.commit}`);
    return;
  }
  say(context, `repository ${read.name} could not be read: ${oneLine(failure ?? read.state)}`);
  context.exit = EXIT.failed;
}
