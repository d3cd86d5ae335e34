/** What the session workflow asks of the image service, by activities that any worker may take. */
import type { FinishImage, ImageRef, JudgeImages } from '../../domain/sessions/activity-schema.ts';
import type { SessionRef } from './contract.ts';

export type { FinishImage, ImageRef, JudgeImages };

export interface PlannedImages {
  /** The distinct images, in order. */
  images: string[];
  /** Longest wait without news for the images to open, and again for what comes of them; in all, for each of them; seconds. */
  waitSeconds: number;
  /** Longest wait for the turn of an image at the image service, which comes on top of the other; seconds, default 0. */
  queueSeconds?: number;
  /** Whether the session only looks, so that no new image is to come of any; default false. */
  check?: boolean;
}

export interface ImageActivities {
  /** Finds out which images there are and what the results are called. */
  planImages(input: SessionRef): Promise<PlannedImages>;
  /** Makes the session's key pair and makes the public half known to the image service. */
  makeImageKey(input: SessionRef): Promise<void>;
  /** Starts the job of an image and waits until one can log in; fails with `image_not_ready` to be asked again. */
  openImage(input: ImageRef): Promise<void>;
  /** Removes the public key from the image service. */
  removeImageKey(input: SessionRef): Promise<void>;
  /** Which images must not become new ones, and why: those that failed, and those that the session's limit has left out. */
  judgeImages(input: JudgeImages): Promise<Record<string, string>>;
  /** Sets an image's marker and waits for what comes of it; fails with `image_not_ready` to be asked again. */
  finishImage(input: FinishImage): Promise<FinishedImage>;
  /** Deletes every job that made no image, the key pair and the public key. Harmless to repeat. */
  releaseImages(input: SessionRef): Promise<void>;
}

export interface FinishedImage {
  resultName: string;
  /** The new image; null when there is none. */
  resultId: string | null;
  /** Why there is none. */
  message: string;
  /** The session's limit has left it out: that it became no new one is no failure. */
  leftOut?: boolean;
}
