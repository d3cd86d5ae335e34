/** What the workflows of image jobs ask of their activities. */

import type { ImageJobRef, ImageJobWord, ReadImageJob, TakeImageTurn } from '../../domain/images/activity-schema.ts';
import type { ImageState } from '../../domain/images/image-builder.ts';
import type { ImageJobStatus } from '../../domain/images/image-service.ts';

export type { ImageJobRef };

/** What a job is to do next. */
export interface ImageJobPlan {
  status: ImageJobStatus;
  /** Whether nothing is to be done but to clean up: it ended, or was deleted. */
  over: boolean;
  /** Queue of the machine that works on it; null before its first turn. */
  queue: string | null;
  /** Longest time of one step of work, seconds. */
  stepSeconds: number;
}

/** `go`: it is the job's turn on that machine; `over`: the job is deleted or has ended. */
export type ImageTurn =
  | { state: 'go'; queue: string }
  | { state: 'wait'; message: string; retrySeconds: number }
  | { state: 'over' };

/** Short looks at the records. */
export interface ImageJobRecords {
  readImageJob(input: ReadImageJob): Promise<ImageJobPlan>;
  /** Asks for the turn of a machine and brings the job to the status of the work. */
  takeImageTurn(input: TakeImageTurn): Promise<ImageTurn>;
  noteOnImageJob(input: ImageJobWord): Promise<void>;
  failImageJob(input: ImageJobWord): Promise<void>;
  /** Notes that nothing of it is left on its machine, and forgets one that is deleted. */
  closeImageJob(input: ImageJobRef): Promise<void>;
}

/** Work on the machine that has the directory. Each may be repeated. */
export interface ImageWork {
  unpackRoot(input: ImageJobRef): Promise<void>;
  openRoot(input: ImageJobRef): Promise<void>;
  /** Waits until the user is done, or the environment is gone. */
  watchRoot(input: ImageJobRef): Promise<{ state: Exclude<ImageState, 'open'> }>;
  packRoot(input: ImageJobRef): Promise<void>;
  cleanRoot(input: ImageJobRef): Promise<void>;
}

/** What compares records, workflows and disks. */
export interface ImageSweepActivities {
  /** Goes on with jobs whose workflow is not there; answers the queues of machines that have a directory of images. */
  sweepImageJobs(): Promise<{ queues: string[] }>;
  /** On a machine: removes what no record names. */
  cleanImageHost(): Promise<void>;
}
