import { foreignDirectory } from '../../control/images/foreign-directory.ts';
import { jobToWorkOn, recordNewImage } from '../../control/images/job-work.ts';
import { musterError } from '../../domain/errors.ts';
import { noteOnImageJob } from '../../store/images/image-jobs.ts';
import { findImage } from '../../store/images/images.ts';
import { type ImageWorkDependencies, limitsOf, noteProgress, toldIfFull } from './machine-work.ts';

/**
 * Packs the root as a new image and records it with the success of the job, in one transaction. For a job that was deleted or has ended
 * meanwhile it keeps nothing, and what an earlier try has recorded stays as it is. Throws `image_service_unavailable`, for another try, where the
 * directory is another installation's.
 */
export async function packRoot(deps: ImageWorkDependencies, jobId: string, signal: AbortSignal): Promise<void> {
  const job = await jobToWorkOn(deps.db, jobId, 'packaging_artifacts');
  if (job === null) return;
  const { imageBuilder: builder, imageFiles: files, db } = deps;
  const image = await findImage(db, job.image_id);
  const format = image?.format ?? job.format ?? 'tar';
  await requireOwnDirectory(deps, jobId);
  await builder.close(jobId, signal);
  const { path, token } = await files.fileForJob(jobId, format);
  const { kernel_file_name, initrd_file_name } = job.request;
  const like = format === 'squashfs' && image !== null ? { like: files.fileOf(image.id, format) } : {};
  const request = {
    jobId,
    target: path,
    format,
    ...like,
    ...(deps.bootFiles ? { needed: [`boot/${kernel_file_name}`, `boot/${initrd_file_name}`] } : {}),
    limits: limitsOf(deps, job),
  };
  const packed = await builder
    .pack(request, signal, noteProgress(deps, jobId, 'packs the new image'))
    .catch(async (error) => Promise.reject(await toldIfFull(deps, jobId, error)));
  signal.throwIfAborted();
  // Packing takes long enough for another volume to be mounted.
  await requireOwnDirectory(deps, jobId);
  const facts = { format, ...packed };
  const root = {
    facts,
    storeId: files.storeId,
    keep: (imageId: string, created: Date) => files.keep({ token, imageId, created, facts }),
    discard: () => files.discard(token),
  };
  await recordNewImage(deps, { job, source: image }, root);
}

/** Says in the record why nothing may be written to the directory of images, and throws it; not where it is this installation's. */
async function requireOwnDirectory({ db, imageFiles }: ImageWorkDependencies, jobId: string): Promise<void> {
  const foreign = await foreignDirectory({ db, imageFiles });
  if (foreign === null) return;
  const refusal = musterError('image_service_unavailable', `The new image cannot be kept: ${foreign}`);
  await noteOnImageJob(db, jobId, refusal.detail);
  throw refusal;
}
