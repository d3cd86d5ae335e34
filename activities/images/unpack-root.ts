import { jobToWorkOn } from '../../control/images/job-work.ts';
import { musterError } from '../../domain/errors.ts';
import type { ImageFormat } from '../../domain/images/image-words.ts';
import { type ImageJobRow, noteOnImageJob } from '../../store/images/image-jobs.ts';
import { findImage, type ImageRow } from '../../store/images/images.ts';
import { type ImageWorkDependencies, limitsOf, noteProgress, toldIfFull } from './machine-work.ts';

/** Unpacks the image of a job, from the beginning. Throws `image_disk_full` before anything is written when there is no room. */
export async function unpackRoot(deps: ImageWorkDependencies, jobId: string, signal: AbortSignal): Promise<void> {
  const job = await jobToWorkOn(deps.db, jobId, 'fetching_image');
  if (job === null) return;
  const image = await fileOfImage(deps, job);
  const { imageBuilder: builder, imageFiles: files } = deps;
  // What an earlier try has left takes the room that this one needs.
  await builder.remove(jobId);
  await checkRoom(deps, job, image);
  const source = files.fileOf(image.id, image.format);
  const progress = noteProgress(deps, jobId, 'unpacks the image');
  const request = { jobId, source, format: image.format, limits: limitsOf(deps, job) };
  await builder.unpack(request, signal, progress).catch(async (error) => {
    // A root that is half unpacked would fill the disk until the next try. The next try removes it where this removal fails.
    if (!signal.aborted) await builder.remove(jobId).catch(() => undefined);
    throw await toldIfFull(deps, jobId, error);
  });
  await noteOnImageJob(deps.db, jobId, '');
}

async function fileOfImage(
  { db, imageFiles }: ImageWorkDependencies,
  job: ImageJobRow,
): Promise<ImageRow & { format: ImageFormat }> {
  const image = await findImage(db, job.image_id);
  const { format } = image ?? {};
  if (image && format && image.store_id === imageFiles.storeId) return { ...image, format };
  throw musterError('image_file_missing', `Image ${job.image_id} has no file on this machine`);
}

/** A root is no smaller than the file it comes of, but for sparse files. */
async function checkRoom(deps: ImageWorkDependencies, job: ImageJobRow, image: ImageRow): Promise<void> {
  const free = await deps.imageBuilder.free();
  const needed = (image.size ?? 0) + deps.minFreeDisk;
  if (free >= needed) return;
  const refusal = musterError(
    'image_disk_full',
    `Disk space is low: ${free} bytes are free, ${needed} are needed to unpack image ${image.id} (MUSTER_MIN_FREE)`,
  );
  await noteOnImageJob(deps.db, job.id, refusal.detail);
  throw refusal;
}
