/** Waiting for an image service without keeping a worker busy: a try that finds nothing new asks to be called again. */
import { ApplicationFailure } from '@temporalio/activity';
import { musterError } from '../../../domain/errors.ts';
import type { ImageService } from '../../../domain/images/image-service.ts';
import { lasting } from '../../../domain/text/times.ts';
import type { ImageDependencies } from '../image-ports.ts';

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
  throw musterError(
    'image_target_unsupported',
    'images cannot be customised: no image service is connected: set MUSTER_IMS_URL, or MUSTER_IMAGE_SERVICE=1',
  );
}

/** Whether a wait that began at `since` is over. */
export function isOver(now: Date, since: Date, waitSeconds: number): boolean {
  return now.getTime() - since.getTime() > waitSeconds * 1000;
}

/** How an image of a session waits for its job. */
export interface ImageWait {
  /** When its job was asked for, or told to make the new image. */
  since: Date;
  /** When its job was last seen to wait for its turn at the image service; null: never. */
  queuedAt: Date | null;
  /** Whether it does so now. */
  queued: boolean;
}

/**
 * Why a session waits no longer for one of its images, as the end of a sentence; null while it does. To wait for its turn is no trouble: that has a
 * limit of its own, and the others begin to count when it is over. The service may take the images of a session one after the other, so the wait goes on
 * while there is something new with any of them, but not longer than for each of them on its own.
 */
export function waitIsOver(
  images: readonly { updated_at: Date }[],
  { since, queuedAt, queued }: ImageWait,
  limits: Pick<ImageDependencies, 'imageWaitSeconds' | 'imageQueueSeconds' | 'clock'>,
): string | null {
  const { imageWaitSeconds: seconds, imageQueueSeconds: queueSeconds } = limits;
  const now = limits.clock();
  if (queued)
    return isOver(now, since, queueSeconds) ? `within ${lasting(queueSeconds)} (MUSTER_IMS_QUEUE_WAIT)` : null;
  const from = Math.max(since.getTime(), queuedAt?.getTime() ?? 0);
  const all = seconds * images.length;
  if (isOver(now, new Date(from), all)) return `within ${lasting(all)} (MUSTER_IMS_WAIT)`;
  const news = new Date(Math.max(from, ...images.map(({ updated_at }) => updated_at.getTime())));
  return isOver(now, news, seconds) ? `and nothing new for ${lasting(seconds)} (MUSTER_IMS_WAIT)` : null;
}
