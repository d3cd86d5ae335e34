import { timeBefore } from '../../domain/age.ts';
import type { ImageJobDeleteQuery } from '../../domain/images/schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import { forgetImageJobs, type ImageJobFilter, markImageJobsDeleted } from '../../store/images/image-jobs.ts';
import type { ImageDependencies } from './ports.ts';
import { imageJobNotFound } from './read-image-jobs.ts';
import { endedImageJob } from './wanted-image-job.ts';

type Dependencies = Pick<ImageDependencies, 'db' | 'tell' | 'clock'>;

/** Deletes a job: it is gone at once for who asks, and its processes and files some seconds later. Throws `image_job_not_found`. */
export async function deleteImageJob(deps: Dependencies, id: string): Promise<void> {
  if (!isUuid(id) || !(await deleteJobs(deps, { id }))) throw imageJobNotFound(id);
}

/** Deletes all jobs that match; `age` counts from their making. */
export async function deleteImageJobs(
  deps: Dependencies,
  { status, job_type, age }: ImageJobDeleteQuery,
): Promise<void> {
  const madeBefore = timeBefore(deps.clock(), age) ?? undefined;
  await deleteJobs(deps, { status, jobType: job_type, madeBefore });
}

/** Answers whether one of them was there. */
async function deleteJobs(deps: Dependencies, filter: ImageJobFilter): Promise<boolean> {
  const deleted = await markImageJobsDeleted(deps.db, filter, deps.clock());
  const idsOf = (cleaned: boolean) => deleted.filter((job) => job.cleaned === cleaned).map(({ id }) => id);
  await forgetImageJobs(deps.db, idsOf(true));
  await deps.tell(idsOf(false).map(endedImageJob));
  return deleted.length > 0;
}
