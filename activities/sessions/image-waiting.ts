/** Waiting for an image service without keeping a worker busy: a try that finds nothing new asks to be called again. */
import { ApplicationFailure } from '@temporalio/activity';
import { musterError } from '../../domain/errors.ts';
import type { ImageService } from '../../domain/images/image-service.ts';
import type { ImageDependencies } from './image-ports.ts';

/** Between two looks at a job (cfs-flows 3.3). */
export const JOB_PAUSE = '5s';
/** Between two tries to log in. */
export const LOGIN_PAUSE = '2s';

/** Says that there is nothing new yet. */
export function notReady(message: string, pause: '5s' | '2s'): ApplicationFailure {
  return ApplicationFailure.create({ type: 'image_not_ready', message, nextRetryDelay: pause });
}

/** The image service; `image_target_unsupported` where there is none. */
export function serviceOf({ imageService }: Pick<ImageDependencies, 'imageService'>): ImageService {
  if (imageService !== null) return imageService;
  throw musterError('image_target_unsupported', 'images cannot be customised: no image service is connected');
}

/** Whether a wait that began at `since` is over. */
export function isOver(since: Date, waitSeconds: number): boolean {
  return Date.now() - since.getTime() > waitSeconds * 1000;
}

/**
 * Why a session that waits for its images since `since` waits no longer, as the end of a sentence; null while it does. The service may
 * take its images one after the other, so the wait goes on while there is something new with any of them, but not longer than for
 * each of them on its own.
 */
export function overSince(images: readonly { updated_at: Date }[], since: Date, waitSeconds: number): string | null {
  const all = waitSeconds * images.length;
  if (isOver(since, all)) return `within ${lasting(all)} (MUSTER_IMS_WAIT)`;
  const news = new Date(Math.max(...images.map(({ updated_at }) => updated_at.getTime())));
  return isOver(news, waitSeconds) ? `and nothing new for ${lasting(waitSeconds)} (MUSTER_IMS_WAIT)` : null;
}

/** `30 min`, or `90 s` where minutes are not even. */
function lasting(seconds: number): string {
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
