import { warningOf } from '../../domain/runs/warning-of.ts';
import { appendEvents } from '../../store/runs/streams.ts';
import type { StepDependencies } from './dependencies.ts';

/** Notes a warning among the events of an attempt's run. `number`: which attempt of its node it is. */
export async function noteRunWarning(
  { db, clock }: StepDependencies,
  { runId, number }: { runId: string; number: number },
  warning: string,
): Promise<void> {
  await appendEvents(db, { streamId: runId, runId: null, layer: 0, attempt: number }, [warningOf(warning, clock())]);
}
