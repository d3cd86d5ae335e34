import { type ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { ImageActivities } from '../../activities/sessions/image-contract.ts';
import { isErrorCode } from '../../domain/errors.ts';
import type { Ending } from './session-state.ts';

const IMAGE_WORK: ReadonlySet<string> = new Set<keyof ImageActivities>([
  'planImages',
  'makeImageKey',
  'openImage',
  'removeImageKey',
  'judgeImages',
  'finishImage',
  'releaseImages',
]);

/**
 * What is known when work on images was not done in its time: the last failure where the engine tells it, else both that it may have been.
 * Null where it is other work, or ended otherwise.
 */
export function imageSilence({
  activityType,
  cause,
}: Pick<ActivityFailure, 'activityType' | 'cause'>): Pick<Ending, 'message' | 'reason'> | null {
  if (!IMAGE_WORK.has(activityType) || !(cause instanceof TimeoutFailure)) return null;
  const last = cause.cause;
  if (last instanceof ApplicationFailure)
    return { message: last.message, reason: isErrorCode(last.type) ? last.type : 'internal' };
  const message = `${activityType} was not done in its time: no worker took it up, or the image service did not answer`;
  return { message, reason: 'image_service_unavailable' };
}
