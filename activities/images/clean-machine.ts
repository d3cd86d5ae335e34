/** What is removed from a machine that has a directory of images. */

import { foreignDirectory } from '../../control/images/foreign-directory.ts';
import { checkFilesMayGo } from '../../control/images/job-work.ts';
import type { ImageBuilder } from '../../domain/images/image-builder.ts';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { jobsToKeep } from '../../store/images/image-jobs.ts';
import { forgetImageRemoval, imagesStoredIn, listImageRemovals } from '../../store/images/images.ts';

/** A file that came in or was made may be without a record for so long, ms. */
const UNNAMED_MS = 60 * 60_000;

/** After that it is kept aside for so long, ms: a database that was restored from an older copy does not know its newest images. */
const ASIDE_MS = 7 * 24 * 60 * 60_000;

interface HostDependencies {
  db: Db;
  imageFiles: ImageFiles;
  imageBuilder: ImageBuilder;
  /** Bytes that are to stay free on the disk. */
  minFreeDisk: number;
  log: { warn(fields: object, message: string): void };
}

/**
 * Ends every process of a job that is over, and removes its files.
 * @throws `bad_data` for a job that goes on
 */
export async function cleanRoot(
  deps: Pick<HostDependencies, 'db' | 'imageBuilder' | 'imageFiles'>,
  jobId: string,
): Promise<void> {
  await checkFilesMayGo(deps.db, jobId);
  await deps.imageBuilder.remove(jobId);
  await deps.imageFiles.discard(jobId);
}

/**
 * Brings this machine's directory in line with the records: what no record names is ended and removed, files of images only after a week,
 * or when the disk is full. What cannot be removed keeps nothing else from it: it is told to the log, and tried again by the next sweep. A
 * directory of another installation is left as it is.
 */
export async function cleanImageHost(deps: HostDependencies): Promise<void> {
  const { db, imageFiles: files, imageBuilder: builder, log } = deps;
  const foreign = await foreignDirectory(deps);
  if (foreign !== null) return log.warn({}, foreign);
  const attempt = (id: string, removal: Promise<void>) =>
    removal.catch((error) => log.warn({ id, err: String(error) }, 'what is left of an image cannot be removed'));
  // Folders first, records second: what is made between the two looks has a record.
  const folders = (await builder.list()).filter(isUuid);
  const jobs = await jobsToKeep(db, files.storeId, folders);
  for (const folder of folders.filter((id) => !jobs.has(id))) await attempt(folder, builder.remove(folder));
  await cleanImageFiles(deps, attempt);
  const stale = await files.stale(UNNAMED_MS);
  // The place of a job's new file is empty until all of it is packed, however long that takes.
  const packing = await jobsToKeep(db, files.storeId, stale);
  for (const token of stale.filter((id) => !packing.has(id))) await attempt(token, files.discard(token));
}

/** Removes files of deleted images, sets files aside that no record names, and brings a file back that a record names again. */
async function cleanImageFiles(
  { db, imageFiles: files, minFreeDisk, log }: HostDependencies,
  attempt: (id: string, removal: Promise<void>) => Promise<void>,
): Promise<void> {
  const removals = await listImageRemovals(db, files.storeId);
  const there = await imagesStoredIn(db, files.storeId, removals);
  for (const id of removals.filter((id) => !there.has(id))) {
    await attempt(
      id,
      files.remove(id).then(() => forgetImageRemoval(db, id)),
    );
  }
  const images = await files.list(UNNAMED_MS);
  const known = await imagesStoredIn(db, files.storeId, images);
  for (const id of images.filter((id) => !known.has(id))) {
    log.warn({ id }, 'no record names this image: it is in the folder lost of the directory of images for 7 days');
    await attempt(id, files.setAside(id));
  }
  const aside = await files.aside(0);
  const named = await imagesStoredIn(db, files.storeId, aside);
  for (const id of named) await attempt(id, files.bringBack(id));
  for (const id of await files.aside(ASIDE_MS)) if (!named.has(id)) await attempt(id, files.remove(id));
  // A file that no record names takes no room that images and jobs need.
  for (const id of (await files.aside(0)).filter((id) => !named.has(id))) {
    if ((await files.free()) >= minFreeDisk) return;
    log.warn(
      { id },
      'the disk is full (MUSTER_MIN_FREE): an image that no record names is removed from the folder lost before its 7 days',
    );
    await attempt(id, files.remove(id));
  }
}
