import { type MusterError, musterError } from '../../domain/errors.ts';
import type { ImageView, StoredImageView } from '../../domain/images/schema.ts';
import type { Db } from '../../store/database.ts';
import { findImage, type ImageRow, listImages } from '../../store/images.ts';
import { viewOfImage, viewOfStoredImage } from './image-views.ts';
import { isUuid } from './is-uuid.ts';

export function imageNotFound(id: string): MusterError {
  return musterError('image_not_found', `There is no image with the id ${id}`);
}

/** The record of an image; throws `image_not_found`. */
export async function imageRow(db: Db, id: string): Promise<ImageRow> {
  const row = isUuid(id) ? await findImage(db, id) : null;
  if (row === null) throw imageNotFound(id);
  return row;
}

/** An image in the words of the contract; throws `image_not_found`. */
export async function getImage(deps: { db: Db }, id: string): Promise<ImageView> {
  return viewOfImage(await imageRow(deps.db, id));
}

/** All images, by name. */
export async function allImages(deps: { db: Db }): Promise<ImageView[]> {
  return (await listImages(deps.db, { after: null, limit: null })).map(viewOfImage);
}

/** An image with what is stored of it; throws `image_not_found`. */
export async function getStoredImage(deps: { db: Db }, id: string): Promise<StoredImageView> {
  return viewOfStoredImage(await imageRow(deps.db, id));
}

/** A page of images by name and id after a place ('': from the beginning), and the place after which the next one begins. */
export async function pageOfImages(
  deps: { db: Db },
  after: string,
  limit: number,
): Promise<{ images: StoredImageView[]; after: string | null }> {
  const rows = await listImages(deps.db, { after: after === '' ? null : placeOf(after), limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { images: page.map(viewOfStoredImage), after: hasMore ? `${last.id}-${last.name}` : null };
}

const ID_LENGTH = 36;

function placeOf(cursor: string): { id: string; name: string } {
  return { id: cursor.slice(0, ID_LENGTH), name: cursor.slice(ID_LENGTH + 1) };
}
