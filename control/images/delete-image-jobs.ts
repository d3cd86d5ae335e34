import { ageInMs } from '../../domain/images/job-age.ts';
import type { ImageJobDeleteQuery } from '../../domain/images/schema.ts';
import { forgetImageJob, listImageJobs, markImageJobsDeleted } from '../../store/image-jobs.ts';
import { isUuid } from './is-uuid.ts';
import type { ActingOnImages } from './ports.ts';
import { imageJobNotFound } from './read-image-jobs.ts';
import { tellEngine } from './tell-engine.ts';

type Dependencies = Pick<ActingOnImages, 'db' | 'imageEngine' | 'clock' | 'log'>;

/** Deletes a job: it is gone at once for who asks, and its processes and files some seconds later. Throws `image_job_not_found`. */
export async function deleteImageJob(deps: Dependencies, id: string): Promise<void> {
  if (!isUuid(id) || !(await deleteJobs(deps, [id]))) throw imageJobNotFound(id);
}

/** Deletes all jobs that match. */
export async function deleteImageJobs(
  deps: Dependencies,
  { status, job_type, age }: ImageJobDeleteQuery,
): Promise<void> {
  const madeBefore = age === undefined ? undefined : new Date(deps.clock().getTime() - ageInMs(age));
  const jobs = await listImageJobs(deps.db, { status, jobType: job_type, madeBefore });
  await deleteJobs(
    deps,
    jobs.map(({ id }) => id),
  );
}

/** Answers whether one of them was there. */
async function deleteJobs(deps: Dependencies, ids: readonly string[]): Promise<boolean> {
  const deleted = await markImageJobsDeleted(deps.db, ids, deps.clock());
  for (const { id, cleaned } of deleted) {
    if (cleaned) await forgetImageJob(deps.db, id);
    else await tellEngine(deps, 'end', id);
  }
  return deleted.length > 0;
}
