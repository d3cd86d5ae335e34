import { type MusterError, musterError } from '../../domain/errors.ts';
import type { ImageJobView } from '../../domain/images/schema.ts';
import type { Db } from '../../store/database.ts';
import { findImageJob, listImageJobs } from '../../store/image-jobs.ts';
import { viewOfImageJob } from './image-views.ts';
import { isUuid } from './is-uuid.ts';

export function imageJobNotFound(id: string): MusterError {
  return musterError('image_job_not_found', `There is no image job with the id ${id}`);
}

/** A job; throws `image_job_not_found`. */
export async function getImageJob(deps: { db: Db }, id: string): Promise<ImageJobView> {
  const row = isUuid(id) ? await findImageJob(deps.db, id) : null;
  if (row === null) throw imageJobNotFound(id);
  return viewOfImageJob(row);
}

/** All jobs, oldest first. */
export async function allImageJobs(deps: { db: Db }): Promise<ImageJobView[]> {
  return (await listImageJobs(deps.db)).map(viewOfImageJob);
}
