import { type MusterError, musterError } from '../../domain/errors.ts';
import type { ImageJobView } from '../../domain/images/schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { findImageJob, listImageJobs } from '../../store/images/image-jobs.ts';
import { viewOfImageJob } from './image-views.ts';

export function imageJobNotFound(id: string): MusterError {
  return musterError('image_job_not_found', `There is no image job with the id ${id}`);
}

/** A job; throws `image_job_not_found`. */
export async function getImageJob(deps: { db: Db }, id: string): Promise<ImageJobView> {
  const row = isUuid(id) ? await findImageJob(deps.db, id) : null;
  if (row === null) throw imageJobNotFound(id);
  return viewOfImageJob(row);
}

/** Jobs that are read at once. */
const BATCH = 500;

/** All jobs, oldest first, some at a time: there may be more than can be held. */
export async function* imageJobBatches(deps: { db: Db }, batch = BATCH): AsyncGenerator<ImageJobView[], void> {
  let after: { created: string; id: string } | null = null;
  do {
    const rows = await listImageJobs(deps.db, { after, limit: batch });
    yield rows.map(viewOfImageJob);
    const last = rows.length === batch ? rows.at(-1) : undefined;
    after = last === undefined ? null : { created: last.place, id: last.id };
  } while (after !== null);
}
