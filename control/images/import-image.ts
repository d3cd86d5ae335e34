import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import type { ImageImport, StoredImageView } from '../../domain/images/schema.ts';
import { isConnectionError } from '../../store/connection/database.ts';
import { insertImage } from '../../store/images/images.ts';
import { newImage } from './create-image.ts';
import { foreignDirectory } from './foreign-directory.ts';
import { viewOfStoredImage } from './image-views.ts';
import type { ImageDependencies } from './ports.ts';

/**
 * Takes in the file of a root file system as a new image. The record is made when the whole file is there.
 * @throws `image_builder_unavailable`, `image_format_unknown`, `image_archive_invalid`, `image_too_large`, `image_disk_full`, `image_checksum_wrong`
 */
export async function importImage(
  deps: Pick<ImageDependencies, 'db' | 'imageFiles' | 'imageSettings' | 'clock'>,
  by: Acting,
  { name, arch, sha256 }: ImageImport,
  source: AsyncIterable<Uint8Array>,
): Promise<StoredImageView> {
  const files = filesOf(deps);
  const foreign = await foreignDirectory({ db: deps.db, imageFiles: files });
  if (foreign !== null) throw musterError('image_builder_unavailable', `No image can be taken in: ${foreign}`);
  const { token, ...facts } = await files.receive(source, deps.imageSettings);
  try {
    if (sha256 !== undefined && sha256.toLowerCase() !== facts.sha256) {
      const detail = `The file that came has the SHA-256 ${facts.sha256} and not ${sha256}: send it again`;
      throw musterError('image_checksum_wrong', detail, 'sha256');
    }
    const imageId = randomUUID();
    const created = deps.clock();
    const { path, etag } = await files.keep({ token, imageId, created, facts });
    const row = {
      ...newImage(deps, by, name, arch, imageId),
      link: { type: 'file', path, etag },
      store_id: files.storeId,
      format: facts.format,
      size: facts.size,
      sha256: facts.sha256,
    };
    await insertImage(deps.db, row).catch(async (error) => {
      // Where no answer came the record may be made all the same; the sweep sets the file aside if it was not.
      if (!isConnectionError(error)) await files.remove(imageId);
      throw error;
    });
    return viewOfStoredImage(row);
  } finally {
    await files.discard(token);
  }
}

/** The directory of images; throws `image_builder_unavailable` where there is none. */
export function filesOf({ imageFiles }: { imageFiles: ImageFiles | null }): ImageFiles {
  if (imageFiles !== null) return imageFiles;
  throw musterError(
    'image_builder_unavailable',
    'This server keeps no images: its directory of images cannot be used (MUSTER_IMAGES_DIR), as its log says',
  );
}
