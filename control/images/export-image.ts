import { musterError } from '../../domain/errors.ts';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import type { Db } from '../../store/connection/database.ts';
import { imageRow } from './read-images.ts';

export interface ImageFile {
  name: string;
  size: number;
  sha256: string | null;
  bytes: AsyncIterable<Uint8Array>;
}

/** The file of an image; throws `image_not_found`, `image_file_missing`. */
export async function exportImage(deps: { db: Db; imageFiles: ImageFiles | null }, id: string): Promise<ImageFile> {
  const row = await imageRow(deps.db, id);
  const { format, store_id, sha256 } = row;
  if (format === null || store_id === null) {
    throw musterError('image_file_missing', `Image ${id} is a record without a file: its content is elsewhere`);
  }
  const { imageFiles } = deps;
  if (imageFiles === null || imageFiles.storeId !== store_id) {
    throw musterError('image_file_missing', `The file of image ${id} is on another machine`);
  }
  return { name: `${row.id}.${format}`, sha256, ...(await imageFiles.read(row.id, format)) };
}
