/** How an attempt has ended, from how its run did. */
import type { ExitOutcomes } from './definition-schema.ts';
import type { Outcome } from './event-schema.ts';

/** Why a run was ended before its own end. */
export type Interruption = 'cancelled' | 'timelimit' | 'timeout';

const MESSAGES: Readonly<Record<Interruption, string>> = {
  cancelled: 'Cancelled',
  timelimit: 'ExecutionTimeout',
  timeout: 'Timeout Error',
};

export interface Clocks {
  /** Seconds of execution; 0 for no limit. */
  timelimit: number;
  timeout: number;
}

/** Returns why a run is to be ended now, or null. */
export function interruptionOf(
  endWanted: boolean,
  ranSeconds: number,
  { timelimit, timeout }: Clocks,
): Interruption | null {
  if (endWanted) return 'cancelled';
  if (timelimit > 0 && ranSeconds >= timelimit) return 'timelimit';
  return timeout > 0 && ranSeconds >= timeout ? 'timeout' : null;
}

export interface EndedRun {
  /** Null for a run that was lost. */
  exitCode: number | null;
  interruption: Interruption | null;
  /** Whether every process of the run was seen to be gone. */
  isGone: boolean;
}

export interface AttemptResult {
  outcome: Outcome;
  code: string | null;
  message: string | null;
  verified: boolean;
}

/** Returns the result of an attempt whose run did not come to an end of its own; null for one that did. */
export function resultOfBroken({ exitCode, interruption, isGone }: EndedRun): AttemptResult | null {
  const doubt = isGone ? '' : ' (not verified)';
  if (interruption !== null) {
    const message = `${MESSAGES[interruption]}${doubt}`;
    return { outcome: 'error', code: interruption, message, verified: isGone };
  }
  if (exitCode !== null) return null;
  return { outcome: 'error', code: 'run_lost', message: `The run was lost${doubt}`, verified: isGone };
}

const SAID = /^MUSTER_OUTCOME=(ok|changed)\r?$/gm;

/**
 * Returns the outcome of a shell action: what the definition says of its exit status; else `changed` for 0, unless its output says
 * otherwise in a line of its own, of which the last one counts, and `failed` for any other.
 */
export function shellOutcome(exitCode: number, outcomes: ExitOutcomes, output: string): Outcome {
  const given = Object.hasOwn(outcomes, String(exitCode)) ? outcomes[String(exitCode)] : undefined;
  if (given !== undefined) return given;
  if (exitCode !== 0) return 'failed';
  const said = [...output.matchAll(SAID)].at(-1)?.[1];
  return said === 'ok' ? 'ok' : 'changed';
}
