import { setTimeout as pause } from 'node:timers/promises';
import type { ImageJobView } from '../../../domain/images/schema.ts';
import type { Session } from '../../../domain/sessions/schema.ts';
import { ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, type StackCommands, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted } from '../../failure.ts';
import { apiOf, type ServerOptions } from '../../options.ts';

export interface StopOptions extends ServerOptions {
  keepRuns?: boolean;
  cancelRuns?: boolean;
}

const NOT_RUNNING = 'no stack runs here';

/** Time for cancelled sessions to end (ms): a run ends within 10 s, teardown and record come on top. */
const CANCEL_WITHIN = 60_000;
/** Time for the API to say which images are open, ms. */
const JOBS_WITHIN = 3_000;

/**
 * Stops the stack. Active runs are a conflict unless they are to be kept or cancelled. Its own API is asked, and not the one that
 * MUSTER_URL names: that may be another installation's, whose sessions are none of this stack.
 */
export async function stop(context: CliContext, stack: StackCommands, options: StopOptions): Promise<void> {
  const state = await stack.state();
  if (state === null || state.state === 'stopped' || state.state === 'failed') return say(context, NOT_RUNNING);
  const api =
    options.url === undefined
      ? new ApiClient(state.links.api, context.signal, (url) => context.stackTokenFor(url))
      : apiOf(context, options);
  if (options.cancelRuns) await cancelAll(context, api);
  const logins = await openLogins(api);
  const result = await stack.stop({ keepRuns: options.keepRuns ?? false });
  if (result.outcome === 'runs_active') {
    throw new CliFailure(
      'runs_active',
      `playbooks run: ${result.runs.join(', ')}`,
      EXIT.conflict,
      '`./muster down --keep-runs` lets them go on, `./muster down --cancel-runs` ends their sessions',
    );
  }
  say(context, result.outcome === 'stopped' ? 'the stack is stopped' : NOT_RUNNING);
  if (result.outcome !== 'stopped' || logins.length === 0) return;
  say(context, `images stay open for logins: jobs ${logins.join(', ')}; the next start goes on with them`);
}

/** Ids of the image jobs whose logins outlive the stack; none where the API does not say so. */
async function openLogins(api: ApiClient): Promise<string[]> {
  try {
    const jobs = await api.json<ImageJobView[]>(
      { method: 'GET', path: '/apis/ims/jobs' },
      AbortSignal.timeout(JOBS_WITHIN),
    );
    return jobs.filter(({ status }) => status === 'waiting_on_user').map(({ id }) => id);
  } catch {
    // A stack is stopped also when its API is not well.
    return [];
  }
}

/** Cancels every session that has not ended, and waits until all have. */
async function cancelAll(context: CliContext, api: ApiClient): Promise<void> {
  const asked = new Set<string>();
  const deadline = context.now() + CANCEL_WITHIN;
  for (;;) {
    const open = await openSessions(api);
    if (open.length === 0) return;
    for (const name of open.filter((each) => !asked.has(each))) {
      asked.add(name);
      await cancel(api, name);
      say(context, `session ${name} is being cancelled`);
    }
    if (context.now() > deadline) {
      throw new CliFailure('timed_out', `sessions have not ended: ${open.join(', ')}`, EXIT.timedOut);
    }
    await pause(300, undefined, { signal: context.signal }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted();
  }
}

async function openSessions(api: ApiClient): Promise<string[]> {
  const lists = await Promise.all(
    ['pending', 'running'].map((status) => allPages<Session>(api, '/v3/sessions', 'sessions', { status })),
  );
  return lists.flat().map((session) => session.name);
}

async function cancel(api: ApiClient, name: string): Promise<void> {
  try {
    await api.json({
      method: 'POST',
      path: `/api/v1/sessions/${segment(name)}/cancel`,
      body: { reason: 'the stack is stopped' },
    });
  } catch (error) {
    // It ended, or was deleted, meanwhile.
    if (!(error instanceof CliFailure) || ![EXIT.conflict, EXIT.notFound].some((exit) => exit === error.exit))
      throw error;
  }
}
