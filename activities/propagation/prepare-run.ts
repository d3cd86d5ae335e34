/** What a run of an attempt needs, prepared as often as that may help, and no oftener. */
import { setTimeout as delay } from 'node:timers/promises';
import { isMusterError } from '../../domain/errors.ts';
import type { RunSpec } from '../../domain/runs/runner.ts';

export interface Preparation {
  prepare(): Promise<RunSpec>;
  /** A sentence for the node of the attempt. */
  tell(reason: string): Promise<void>;
  /** Pauses between the tries, ms. */
  pauses?: readonly number[];
}

/** A program that is replaced at this moment is there by then. */
const PAUSES: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 8_000];

/**
 * Prepares a run. Whatever fills in its templates is tried to be started several times.
 * Throws `evaluator_failed` when the last try has failed too; everything else at once.
 */
export async function prepareRun(
  { prepare, tell, pauses = PAUSES }: Preparation,
  signal: AbortSignal,
): Promise<RunSpec> {
  const tries = pauses.length + 1;
  for (let tried = 1; ; tried += 1) {
    try {
      return await prepare();
    } catch (error) {
      if (!isMusterError(error) || error.code !== 'evaluator_failed') throw error;
      const pause = pauses[tried - 1];
      if (pause === undefined) throw error;
      await tell(`try ${tried} of ${tries} failed: ${error.detail}`);
      await delay(pause, undefined, { signal });
    }
  }
}
