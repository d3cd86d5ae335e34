import { setTimeout as pause } from 'node:timers/promises';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, interrupted } from '../../failure.ts';
import { counted } from '../../output/names.ts';

const RESOURCES = '/api/v1/operator/resources';
/** Time (ms) for cancelled reconciles to end: a run ends within 10 s. */
const CANCEL_WITHIN = 60_000;
/** Time (ms) for the API to say how many are open. */
const COUNT_WITHIN = 3_000;

/** Returns how many reconciles of operators are open; none where the API does not say so. */
async function openReconciles(api: ApiClient): Promise<number> {
  try {
    const { operators } = await api.json<{ operators?: { reconciles_open: number } | null }>(
      { method: 'GET', path: '/api/v1/status' },
      AbortSignal.timeout(COUNT_WITHIN),
    );
    return operators?.reconciles_open ?? 0;
  } catch {
    // A stack is stopped also when its API is not well.
    return 0;
  }
}

/** Cancels all reconciles of operators that are open, and waits until they have ended. Throws `timed_out`. */
export async function cancelOpenReconciles(context: CliContext, api: ApiClient): Promise<void> {
  let left = Number.POSITIVE_INFINITY;
  let progress = context.now();
  for (;;) {
    const open = await openReconciles(api);
    if (open === 0) return;
    if (left === Number.POSITIVE_INFINITY) say(context, `cancels ${counted(open, 'reconcile')}`);
    if (open < left) progress = context.now();
    left = open;
    if (context.now() - progress > CANCEL_WITHIN) {
      const detail = `${counted(left, 'reconcile')} ${left === 1 ? 'has' : 'have'} not ended: no process of the operator is there to end them`;
      throw new CliFailure('timed_out', detail, EXIT.timedOut);
    }
    for (const { id } of await allPages<{ id: string }>(api, RESOURCES, 'resources', { phase: 'running' }))
      await cancel(api, id);
    await pause(300, undefined, { signal: context.signal }).catch(() => undefined);
    if (context.signal.aborted) throw interrupted();
  }
}

async function cancel(api: ApiClient, id: string): Promise<void> {
  try {
    await api.json({ method: 'POST', path: `${RESOURCES}/${segment(id)}/cancel` });
  } catch (error) {
    // It ended meanwhile.
    if (!(error instanceof CliFailure) || error.exit !== EXIT.notFound) throw error;
  }
}
