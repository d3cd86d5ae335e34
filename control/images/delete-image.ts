import { musterError } from '../../domain/errors.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import { findReader } from '../../store/images/image-jobs.ts';
import {
  deleteImage as deleteRow,
  forgetImageRemoval,
  lockImage,
  noteImageRemoval,
} from '../../store/images/images.ts';
import { foreignDirectory } from './foreign-directory.ts';
import type { ImageDependencies } from './ports.ts';
import { imageNotFound } from './read-images.ts';

/**
 * Removes an image, its file too where this machine has it; else the machine that has it does so within some minutes. In a directory of another
 * installation the file stays. Throws `image_not_found`, and `image_in_use` while a job is about to unpack it.
 */
export async function deleteImage(
  deps: Pick<ImageDependencies, 'db' | 'imageFiles' | 'clock' | 'log'>,
  id: string,
): Promise<void> {
  if (!isUuid(id)) throw imageNotFound(id);
  const image = await deps.db.transaction().execute(async (trx) => {
    const row = await lockImage(trx, id);
    if (row === null) throw imageNotFound(id);
    const job = await findReader(trx, id);
    if (job !== null) {
      const detail = `Image ${id} is about to be unpacked for image job ${job}: wait until that is done, or delete the job`;
      throw musterError('image_in_use', detail);
    }
    await deleteRow(trx, id);
    await noteImageRemoval(trx, row, deps.clock());
    return row;
  });
  const { db, imageFiles } = deps;
  if (imageFiles === null || image.store_id !== imageFiles.storeId) return;
  try {
    const foreign = await foreignDirectory({ db, imageFiles });
    if (foreign !== null) return deps.log.warn({ image: image.id }, foreign);
    await imageFiles.remove(image.id);
    await forgetImageRemoval(db, image.id);
  } catch (error) {
    deps.log.warn({ image: image.id, err: String(error) }, 'the file of an image could not be removed yet');
  }
}
