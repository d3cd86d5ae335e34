import { setTimeout as pause } from 'node:timers/promises';
import type { ImageJobView } from '../../../domain/images/schema.ts';
import type { SessionsCancelled } from '../../../domain/sessions/many-schema.ts';
import type { Session } from '../../../domain/sessions/schema.ts';
import { ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, type StackCommands, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted } from '../../failure.ts';
import { apiOf, type ServerOptions } from '../../options.ts';
import { counted, someOf } from '../../output/names.ts';
import { describeRuns } from './active-runs.ts';
import { abortOpenPlans, openPlans, refuseOpenPlans } from './open-plans.ts';
import { cancelOpenReconciles } from './open-reconciles.ts';

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
  if (options.cancelRuns) {
    await cancelAll(context, api);
    await abortOpenPlans(context, api);
    await cancelOpenReconciles(context, api);
  } else if (!options.keepRuns) refuseOpenPlans(await openPlans(api));
  const logins = await openLogins(api);
  const result = await stack.stop({ keepRuns: options.keepRuns ?? false });
  if (result.outcome === 'runs_active') {
    throw new CliFailure(
      'runs_active',
      `${counted(result.runs.length, 'playbook')} ${result.runs.length === 1 ? 'runs' : 'run'}: ${await describeRuns(api, result.runs)}`,
      EXIT.conflict,
      '`./muster down --keep-runs` lets them go on, `./muster down --cancel-runs` ends their sessions and reconciles',
    );
  }
  say(context, result.outcome === 'stopped' ? 'the stack is stopped' : NOT_RUNNING);
  if (result.outcome !== 'stopped' || logins.length === 0) return;
  say(context, `images stay open for logins: jobs ${someOf(logins)}; the next start goes on with them`);
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

/** Cancels every session that has not ended, and waits until all have: as long as one ends within a minute. */
async function cancelAll(context: CliContext, api: ApiClient): Promise<void> {
  let total = 0;
  let left = Number.POSITIVE_INFINITY;
  let told = 0;
  let progress = context.now();
  for (;;) {
    // Again each time: somebody may make one meanwhile.
    total += await cancelOpen(api);
    const open = await countOpen(api);
    total = Math.max(total, open);
    if (open < left) progress = context.now();
    left = open;
    const done = total - open;
    if (total > 0 && (open === 0 || done - told >= Math.max(1, total / 10))) {
      told = done;
      say(context, `cancelled ${thousands(done)} of ${thousands(total)} sessions`);
    }
    if (open === 0) return;
    if (context.now() - progress > CANCEL_WITHIN) {
      const names = await someOpen(api);
      const detail = `${counted(open, 'session')} ${open === 1 ? 'has' : 'have'} not ended: ${someOf(names, ', ', open)}`;
      throw new CliFailure('timed_out', detail, EXIT.timedOut);
    }
    await pause(300, undefined, { signal: context.signal }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted();
  }
}

const thousands = (count: number): string => count.toLocaleString('en');
const OPEN = ['pending', 'running'] as const;
const REASON = 'the stack is stopped';

async function cancelOpen(api: ApiClient): Promise<number> {
  const body = { status: OPEN, reason: REASON };
  try {
    const { cancelled } = await api.json<SessionsCancelled>({ method: 'POST', path: '/api/v1/sessions/cancel', body });
    return cancelled;
  } catch (error) {
    // A stack that an older release has started has no such route.
    if (!(error instanceof CliFailure) || error.code !== 'method_not_allowed') throw error;
    return cancelEach(api);
  }
}

async function cancelEach(api: ApiClient): Promise<number> {
  const names = await someOpen(api);
  for (const name of names) {
    const path = `/api/v1/sessions/${segment(name)}/cancel`;
    await api.json({ method: 'POST', path, body: { reason: REASON } }).catch((error: unknown) => {
      // It ended, or was deleted, meanwhile.
      if (!(error instanceof CliFailure) || ![EXIT.conflict, EXIT.notFound].some((exit) => exit === error.exit))
        throw error;
    });
  }
  return 0;
}

async function countOpen(api: ApiClient): Promise<number> {
  const { counts } = await api.json<{ counts: { sessions: Record<(typeof OPEN)[number], number> } | null }>({
    method: 'GET',
    path: '/api/v1/status',
  });
  if (counts === null) throw new CliFailure('storage_unavailable', 'the API cannot reach Postgres', EXIT.unreachable);
  return counts.sessions.pending + counts.sessions.running;
}

/** Names of sessions that are open, enough for a message. */
async function someOpen(api: ApiClient): Promise<string[]> {
  const lists = OPEN.map((status) => allPages<Session>(api, '/v3/sessions', 'sessions', { status }, 10));
  return (await Promise.all(lists)).flat().map(({ name }) => name);
}
