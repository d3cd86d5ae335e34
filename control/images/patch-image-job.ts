import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import { isEnd } from '../../domain/images/job-status.ts';
import type { ImageJobPatch, ImageJobView } from '../../domain/images/schema.ts';
import { moveImageJob } from '../../store/images/image-jobs.ts';
import { findImage } from '../../store/images/images.ts';
import type { ImageDependencies } from './ports.ts';
import { getImageJob } from './read-image-jobs.ts';
import { endedImageJob } from './wanted-image-job.ts';

/**
 * What is left of the contract's PATCH where Muster's own worker needs none (cfs-flows 7): what is so already is no change, and
 * `error` ends the job. Throws `image_job_not_found`, `image_reference_unknown`, `image_job_status`.
 */
export async function patchImageJob(
  deps: Pick<ImageDependencies, 'db' | 'tell' | 'clock'>,
  by: Acting,
  id: string,
  { status, resultant_image_id: resultId }: ImageJobPatch,
): Promise<ImageJobView> {
  const job = await getImageJob(deps, id);
  if (resultId !== undefined && resultId !== job.resultant_image_id) {
    if ((await findImage(deps.db, resultId)) === null) {
      const detail = `There is no image with the id ${resultId}`;
      throw musterError('image_reference_unknown', detail, 'resultant_image_id');
    }
    throw musterError('image_job_status', 'The result of a job is set by Muster alone', 'resultant_image_id');
  }
  if (status === undefined || status === job.status) return job;
  if (status !== 'error' || isEnd(job.status)) {
    const detail = `Job ${id} is in status ${job.status}; only an open job can be set to error, the rest is Muster's own`;
    throw musterError('image_job_status', detail, 'status');
  }
  const message = `ended by ${by.actor ?? 'a request'}`;
  if (await moveImageJob(deps.db, id, 'error', { message, ended_at: deps.clock() })) {
    // By the id of the record: the one that was asked for may be in upper case, and would be another workflow's.
    await deps.tell([endedImageJob(job.id)]);
  }
  return getImageJob(deps, id);
}
