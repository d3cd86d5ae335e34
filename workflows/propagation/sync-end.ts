import { TimeoutType } from '@temporalio/common';
import { type ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';

/** How often a sync is tried. */
export const TRIES = 5;

/**
 * Why a sync of a repository has failed, after its last try.
 * @returns the code and the sentence that its record gets
 */
export function syncEnd({ cause, message }: ActivityFailure): { code: string; reason: string } {
  if (cause instanceof TimeoutFailure) return { code: 'sync_timeout', reason: timeoutText(cause) };
  if (cause instanceof ApplicationFailure) return { code: cause.type ?? 'internal', reason: cause.message };
  return { code: 'internal', reason: cause?.message ?? message };
}

/** A worker that is killed gives no sign any more; a sync that goes on for too long gives signs to the last. */
function timeoutText({ timeoutType }: TimeoutFailure): string {
  if (timeoutType === TimeoutType.HEARTBEAT) {
    return `The worker that read the repository was lost, in each of ${TRIES} tries: its log tells why`;
  }
  return `The repository was not read within an hour, in any of ${TRIES} tries: look whether it has grown too large, or its server is too slow`;
}
