/** What the records decide of the work on an image: whether a job is to be worked on, which job makes room, and what came of one. */

import { musterError } from '../../domain/errors.ts';
import type { FileFacts, KeptFile } from '../../domain/images/image-files.ts';
import { isEnd } from '../../domain/images/job-status.ts';
import { isDone } from '../../domain/images/job-turn.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  findImageJob,
  type ImageJobRow,
  imageJobsOnDisk,
  lockImageJob,
  moveImageJob,
} from '../../store/images/image-jobs.ts';
import { type ImageRow, insertImage } from '../../store/images/images.ts';
import { newImage } from './create-image.ts';

/** The files of a job that has ended are removed at once; so long, ms, others wait whether that was enough. */
const REMOVAL_MS = 60_000;

/** Returns the job while it has one of these statuses (none named: any); null where there is none, or it is deleted or further. */
export async function jobToWorkOn(
  db: Db,
  jobId: string,
  ...statuses: ImageJobRow['status'][]
): Promise<ImageJobRow | null> {
  const job = isUuid(jobId) ? await findImageJob(db, jobId) : null;
  return job !== null && (statuses.length === 0 || statuses.includes(job.status)) ? job : null;
}

/** Throws `bad_data` for a job that goes on: its files stay. */
export async function checkFilesMayGo(db: Db, jobId: string): Promise<void> {
  const job = await jobToWorkOn(db, jobId);
  if (job === null || isEnd(job.status)) return;
  throw musterError('bad_data', `Image job ${jobId} is not over, its status is ${job.status}: its files stay`);
}

/**
 * Returns the jobs of a machine that may be ended to make room: the jobs that wait for their users. Returns none while another job frees room by
 * itself: a job that has just ended or been deleted, and a job that is unpacked, which ends by itself when it finds no room.
 */
export async function jobsThatMayGo(db: Db, queue: string, now: number): Promise<string[]> {
  const jobs = await imageJobsOnDisk(db, queue);
  const removedSince = new Date(now - REMOVAL_MS);
  const frees = ({ status, ended_at, deleted_at }: (typeof jobs)[number]) =>
    status === 'fetching_image' || [ended_at, deleted_at].some((time) => time !== null && time > removedSince);
  if (jobs.some(frees)) return [];
  // One whose user is done waits for its turn to be packed, which nobody breaks off.
  return jobs.filter((job) => job.status === 'waiting_on_user' && !isDone(job)).map(({ id }) => id);
}

/** Ends a job that has to go, since the disk is full, in `error`. */
export async function endForRoom(
  { db, clock, minFreeDisk }: { db: Db; clock(): Date; minFreeDisk: number },
  jobId: string,
): Promise<void> {
  const message = `the disk is full: less than ${minFreeDisk} bytes are free (MUSTER_MIN_FREE), and this image is the largest`;
  await moveImageJob(db, jobId, 'error', { message, ended_at: clock() });
}

/** A packed root that belongs to no image yet. */
export interface PackedRoot {
  facts: FileFacts;
  storeId: string;
  /** Makes it the file of the image. */
  keep(imageId: string, created: Date): Promise<KeptFile>;
  discard(): Promise<void>;
}

/**
 * Makes the packed root of a job its new image and records that with the success of the job, in one transaction. A root is discarded whose job
 * was deleted or has ended meanwhile; what an earlier try has recorded stays as it is.
 * @param source the image that the job customised, where it is still there
 */
export async function recordNewImage(
  { db, clock }: { db: Db; clock(): Date },
  { job, source }: { job: ImageJobRow; source: ImageRow | null },
  packed: PackedRoot,
): Promise<void> {
  const created = clock();
  const { id, result_id: imageId } = job;
  await db.transaction().execute(async (trx) => {
    // The lock comes before the file: an earlier try may still be at it, and the file that it has recorded must not be touched.
    if ((await lockImageJob(trx, id))?.status !== 'packaging_artifacts') return packed.discard();
    const kept = await packed.keep(imageId, created);
    await moveImageJob(trx, id, 'success', { message: '', ended_at: created, resultant_image_id: imageId });
    await insertImage(trx, {
      ...newImage({ clock }, { actor: job.actor }, job.request.image_root_archive_name, job.arch, imageId),
      link: { type: 'file', path: kept.path, etag: kept.etag },
      metadata: source?.metadata ?? {},
      store_id: packed.storeId,
      format: packed.facts.format,
      size: packed.facts.size,
      sha256: packed.facts.sha256,
      made_by: id,
      made_from: job.image_id,
    });
  });
}
