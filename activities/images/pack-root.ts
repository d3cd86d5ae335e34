/** The work of an image job on the machine that has the directory of images. */

import { setTimeout as pause } from 'node:timers/promises';
import { newImage } from '../../control/images/create-image.ts';
import { foreignDirectory } from '../../control/images/foreign-directory.ts';
import { isMusterError, type MusterError, musterError } from '../../domain/errors.ts';
import type { BuildLimits, ImageState } from '../../domain/images/image-builder.ts';
import type { ImageFormat } from '../../domain/images/image-words.ts';
import { isEnd } from '../../domain/images/job-status.ts';
import { type ImageJobRow, lockImageJob, moveImageJob, noteOnImageJob } from '../../store/images/image-jobs.ts';
import { findImage, type ImageRow, insertImage } from '../../store/images/images.ts';
import type { ImageWorkDependencies } from './machine-work.ts';
import { openJob } from './machine-work.ts';
import { watchDisk } from './watch-root.ts';

/** Between two looks at an environment, ms. */
const LOOK_MS = 1_000;
/** Between two notes of the progress in the record, ms. */
const NOTE_MS = 5_000;
const GIB = 2 ** 30;

/** Unpacks the image of a job, from the beginning. Throws `image_disk_full` before anything is written when there is no room. */
export async function unpackRoot(deps: ImageWorkDependencies, jobId: string, signal: AbortSignal): Promise<void> {
  const job = await openJob(deps, jobId);
  if (job === null || job.status !== 'fetching_image') return;
  const image = await fileOfImage(deps, job);
  const { imageBuilder: builder, imageFiles: files } = deps;
  // What an earlier try has left takes the room that this one needs.
  await builder.remove(jobId);
  await checkRoom(deps, job, image);
  const source = files.fileOf(image.id, image.format);
  const progress = noteProgress(deps, jobId, 'unpacks the image');
  const request = { jobId, source, format: image.format, limits: limitsOf(deps, job) };
  await builder.unpack(request, signal, progress).catch(async (error) => {
    // What is half unpacked fills the disk until the next try, of which nobody knows when it comes. That removes it too, where this cannot.
    if (!signal.aborted) await builder.remove(jobId).catch(() => undefined);
    throw await toldIfFull(deps, jobId, error);
  });
  await noteOnImageJob(deps.db, jobId, '');
}

/** Says in the record that the disk is full, which is tried again for minutes; answers the error. */
async function toldIfFull({ db }: ImageWorkDependencies, jobId: string, error: unknown): Promise<unknown> {
  if (isMusterError(error) && error.code === 'image_disk_full') await noteOnImageJob(db, jobId, error.detail);
  return error;
}

/**
 * Waits until the user has left a marker or the environment is gone. A job that has to go since the disk is full ends in `error`. Throws
 * `image_wait_timeout`.
 */
export async function watchRoot(
  deps: ImageWorkDependencies,
  jobId: string,
  signal: AbortSignal,
): Promise<{ state: Exclude<ImageState, 'open'> }> {
  const job = await openJob(deps, jobId);
  if (job === null) return { state: 'gone' };
  const { userSeconds } = deps.imageLimits;
  const until = (job.waiting_since ?? deps.clock()).getTime() + userSeconds * 1000;
  const hasToGo = watchDisk(deps, { jobId, queue: deps.imageShells.queue });
  for (;;) {
    const state = await deps.imageBuilder.state(jobId);
    if (state !== 'open') return { state };
    if (deps.clock().getTime() > until) {
      const detail = `nobody said within ${userSeconds} s that it is done (MUSTER_IMAGE_USER_WAIT)`;
      throw musterError('image_wait_timeout', detail);
    }
    if (await hasToGo()) {
      const message = `the disk is full: less than ${deps.minFreeDisk} bytes are free (MUSTER_MIN_FREE), and this image is the largest`;
      await moveImageJob(deps.db, jobId, 'error', { message, ended_at: deps.clock() });
      return { state: 'gone' };
    }
    await pause(LOOK_MS, undefined, { signal });
  }
}

/**
 * Packs the root as a new image and records it with the success of the job, in one transaction. For a job that was deleted or has ended
 * meanwhile it keeps nothing, and what an earlier try has recorded stays as it is. Throws `image_service_unavailable`, for another try, where the
 * directory is another installation's.
 */
export async function packRoot(deps: ImageWorkDependencies, jobId: string, signal: AbortSignal): Promise<void> {
  const job = await openJob(deps, jobId);
  if (job === null || job.status !== 'packaging_artifacts') return;
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
  const created = deps.clock();
  await db.transaction().execute(async (trx) => {
    // The lock comes before the file: an earlier try may still be at it, and the file that it has recorded must not be touched.
    if ((await lockImageJob(trx, jobId))?.status !== 'packaging_artifacts') return files.discard(token);
    const kept = await files.keep({ token, imageId: job.result_id, created, facts: { format, ...packed } });
    const end = { message: '', ended_at: created, resultant_image_id: job.result_id };
    await moveImageJob(trx, jobId, 'success', end);
    await insertImage(trx, {
      ...newImage({ ...deps, actor: job.actor }, job.request.image_root_archive_name, job.arch, job.result_id),
      link: { type: 'file', path: kept.path, etag: kept.etag },
      metadata: image?.metadata ?? {},
      store_id: files.storeId,
      format,
      size: packed.size,
      sha256: packed.sha256,
      made_by: jobId,
      made_from: job.image_id,
    });
  });
}

/** Says in the record why nothing may be written to the directory of images, and throws it; not where it is this installation's. */
async function requireOwnDirectory({ db, imageFiles }: ImageWorkDependencies, jobId: string): Promise<void> {
  const foreign = await foreignDirectory({ db, imageFiles });
  if (foreign === null) return;
  const refusal = musterError('image_service_unavailable', `The new image cannot be kept: ${foreign}`);
  await noteOnImageJob(db, jobId, refusal.detail);
  throw refusal;
}

/**
 * Ends every process of a job that is over, and removes its files.
 * @throws `bad_data` for a job that goes on
 */
export async function cleanRoot(deps: ImageWorkDependencies, jobId: string): Promise<void> {
  const job = await openJob(deps, jobId);
  if (job !== null && !isEnd(job.status)) {
    throw musterError('bad_data', `Image job ${jobId} is not over, its status is ${job.status}: its files stay`);
  }
  await deps.imageBuilder.remove(jobId);
  await deps.imageFiles.discard(jobId);
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

function limitsOf(deps: ImageWorkDependencies, { request }: ImageJobRow): BuildLimits {
  return {
    maxBytes: request.build_env_size * GIB,
    seconds: deps.imageLimits.stepSeconds,
    keepFree: deps.minFreeDisk,
  };
}

/** A root is no smaller than the file it comes of, but for sparse files. */
async function checkRoom(deps: ImageWorkDependencies, job: ImageJobRow, image: ImageRow): Promise<void> {
  const free = await deps.imageBuilder.free();
  const needed = (image.size ?? 0) + deps.minFreeDisk;
  if (free >= needed) return;
  const refusal: MusterError = musterError(
    'image_disk_full',
    `Disk space is low: ${free} bytes are free, ${needed} are needed to unpack image ${image.id} (MUSTER_MIN_FREE)`,
  );
  await noteOnImageJob(deps.db, job.id, refusal.detail);
  throw refusal;
}

/** Says now and then in the record how far the work is. */
function noteProgress({ db }: ImageWorkDependencies, jobId: string, what: string): (bytes: number) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (bytes) => {
    if (performance.now() - last < NOTE_MS) return;
    last = performance.now();
    const size = `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    // The work matters more than the word about it.
    noteOnImageJob(db, jobId, `${what}: ${size}`).catch(() => undefined);
  };
}
