import { type ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import type { ImageActivities } from '../../../activities/sessions/image-contract.ts';
import { type ErrorCode, isErrorCode } from '../../../domain/errors.ts';
import type { Ending } from '../session-state.ts';

const IMAGE_WORK: ReadonlySet<string> = new Set<keyof ImageActivities>([
  'planImages',
  'makeImageKey',
  'openImage',
  'removeImageKey',
  'judgeImages',
  'finishImage',
  'releaseImages',
]);

const SILENT = 'the image service did not answer (MUSTER_IMS_URL)';

type Timeout = NonNullable<TimeoutFailure['timeoutType']>;
/** By their numbers in Temporal's protocol. */
const TIMEOUTS: readonly (Timeout | undefined)[] = [
  undefined,
  'START_TO_CLOSE',
  'SCHEDULE_TO_START',
  'SCHEDULE_TO_CLOSE',
  'HEARTBEAT',
];

/** What a time that ran out says of who was at the work. A worker that was is known only once a try of its own has ended. */
const TOLD: Record<Timeout, { why: string; reason: ErrorCode }> = {
  SCHEDULE_TO_START: { why: 'no worker took it up', reason: 'runner_unavailable' },
  SCHEDULE_TO_CLOSE: { why: `no worker took it up, or ${SILENT}`, reason: 'image_service_unavailable' },
  START_TO_CLOSE: { why: `a worker tried it, and ${SILENT}`, reason: 'image_service_unavailable' },
  HEARTBEAT: { why: 'the worker that tried it is gone', reason: 'runner_gone' },
};

/**
 * What is known when work on images was not done in its time: the last failure where the engine tells it, else how its tries ended. Null where
 * it is other work, or ended otherwise.
 */
export function imageSilence({
  activityType,
  cause,
}: Pick<ActivityFailure, 'activityType' | 'cause'>): Pick<Ending, 'message' | 'reason'> | null {
  if (!IMAGE_WORK.has(activityType) || !(cause instanceof TimeoutFailure)) return null;
  // The end of the last try; the SDK leaves it out where it makes errors of what the engine says.
  const last = cause.failure?.cause;
  if (last?.applicationFailureInfo)
    return { message: last.message ?? '', reason: reasonOf(last.applicationFailureInfo) };
  const ended = TIMEOUTS[last?.timeoutFailureInfo?.timeoutType ?? 0] ?? cause.timeoutType ?? 'SCHEDULE_TO_CLOSE';
  const { why, reason } = TOLD[ended];
  return { message: `${activityType} was not done in its time: ${why}`, reason };
}

/** Why work failed, in the words of the catalogue: an image that was not ready yet when the time ran out took too long. */
export function reasonOf({ type }: { type?: string | null | undefined }): ErrorCode {
  if (isErrorCode(type)) return type;
  return type === 'image_not_ready' ? 'image_wait_timeout' : 'internal';
}
