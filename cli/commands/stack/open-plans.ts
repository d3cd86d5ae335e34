import { setTimeout as pause } from 'node:timers/promises';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted } from '../../failure.ts';
import { counted, someOf } from '../../output/names.ts';

/** Time (ms) for aborted plans to end. */
const ABORT_WITHIN = 60_000;
/** Time (ms) for the API to say which plans are open. */
const PLANS_WITHIN = 3_000;

interface OpenPlans {
  count: number;
  /** The newest of them. */
  open: { id: string; name: string }[];
}

/** Returns the plans that run or are paused; none where the API does not say so. */
export async function openPlans(api: ApiClient): Promise<OpenPlans> {
  try {
    const { plans } = await api.json<{
      plans?: { running: number; paused: number; open: { id: string; name: string }[] } | null;
    }>({ method: 'GET', path: '/api/v1/status' }, AbortSignal.timeout(PLANS_WITHIN));
    return plans ? { count: plans.running + plans.paused, open: plans.open } : { count: 0, open: [] };
  } catch {
    // A stack is stopped also when its API is not well.
    return { count: 0, open: [] };
  }
}

const namesOf = ({ count, open }: OpenPlans): string =>
  someOf(
    open.map(({ id, name }) => `${name} (${id})`),
    ', ',
    count,
  );

/** Throws `runs_active` where a plan is open. */
export function refuseOpenPlans(plans: OpenPlans): void {
  if (plans.count === 0) return;
  throw new CliFailure(
    'runs_active',
    `${counted(plans.count, 'plan')} ${plans.count === 1 ? 'runs' : 'run'}: ${namesOf(plans)}`,
    EXIT.conflict,
    '`./muster down --keep-runs` lets actions go on and the next `up` finds them, `./muster down --cancel-runs` aborts the plans',
  );
}

/** Aborts all plans that are open, and waits until they have ended. Throws `timed_out`. */
export async function abortOpenPlans(context: CliContext, api: ApiClient): Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  let progress = context.now();
  for (;;) {
    const plans = await openPlans(api);
    if (plans.count === 0) return;
    if (left === Number.POSITIVE_INFINITY) say(context, `aborts ${counted(plans.count, 'plan')}`);
    if (plans.count < left) progress = context.now();
    left = plans.count;
    if (context.now() - progress > ABORT_WITHIN) {
      const detail = `${counted(left, 'plan')} ${left === 1 ? 'has' : 'have'} not ended: ${namesOf(plans)}`;
      throw new CliFailure('timed_out', detail, EXIT.timedOut);
    }
    for (const { id } of plans.open) await abort(api, id);
    await pause(300, undefined, { signal: context.signal }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted();
  }
}

async function abort(api: ApiClient, id: string): Promise<void> {
  try {
    await api.json({ method: 'POST', path: `/api/v1/propagation/plans/${segment(id)}/abort` });
  } catch (error) {
    // It ended, or was deleted, meanwhile.
    if (!(error instanceof CliFailure) || ![EXIT.conflict, EXIT.notFound].some((exit) => exit === error.exit))
      throw error;
  }
}
