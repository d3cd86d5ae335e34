import { CancelledFailure, Context } from '@temporalio/activity';

/** Beats are thrown away between two that Temporal wants; this is often enough for a cancel within seconds. */
const BEAT_MS = 2_000;

/**
 * Runs a long activity with a heartbeat that does not depend on its progress. `beat` gives the small checkpoint to send.
 * The work gets the signal that aborts on cancellation; when that is why it failed, Temporal is told so.
 */
export async function withHeartbeat<T>(
  work: (signal: AbortSignal) => Promise<T>,
  beat: () => unknown = () => undefined,
): Promise<T> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(beat()), BEAT_MS);
  try {
    context.heartbeat(beat());
    return await work(context.cancellationSignal);
  } catch (error) {
    if (context.cancellationSignal.aborted && !(error instanceof CancelledFailure)) {
      throw new CancelledFailure('the activity was cancelled');
    }
    throw error;
  } finally {
    clearInterval(timer);
  }
}
