import { type MusterError, musterError } from '../../domain/errors.ts';
import type { ImageView, StoredImageView } from '../../domain/images/schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import { findImage, type ImageRow, listImages } from '../../store/images/images.ts';
import { viewOfImage, viewOfStoredImage } from './image-views.ts';

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

/** Images that are read at once: each has up to 64 KiB of metadata. */
const BATCH = 100;

type ImagePlace = { id: string; name: string };

/** Records by name, some at a time: at most `limit`, those after a place. `more` says in the end whether there are others. */
function imageRows(db: Db, from: ImagePlace | null, limit: number) {
  let after = from;
  let hasMore = true;
  async function* batches(): AsyncGenerator<ImageRow[], void> {
    for (let left = limit; left > 0 && hasMore; ) {
      const size = Math.min(left, BATCH);
      const rows: ImageRow[] = await listImages(db, { after, limit: size + 1 });
      hasMore = rows.length > size;
      const batch = rows.slice(0, size);
      after = batch.at(-1) ?? after;
      left -= batch.length;
      yield batch;
    }
  }
  return { batches: batches(), more: () => hasMore };
}

async function* mapped<T>(batches: AsyncGenerator<ImageRow[], void>, view: (row: ImageRow) => T) {
  for await (const rows of batches) yield rows.map(view);
}

/** All images by name, some at a time. */
export function imageBatches(deps: { db: Db }): AsyncGenerator<ImageView[], void> {
  return mapped(imageRows(deps.db, null, Number.POSITIVE_INFINITY).batches, viewOfImage);
}

/** An image with what is stored of it; throws `image_not_found`. */
export async function getStoredImage(deps: { db: Db }, id: string): Promise<StoredImageView> {
  return viewOfStoredImage(await imageRow(deps.db, id));
}

/**
 * A page of images by name and id after a place ('': from the beginning), some at a time; `next` is the place after which the next page begins, once
 * the last of this one is known.
 */
export function pageOfImages(
  deps: { db: Db },
  after: string,
  limit: number,
): {
  batches: AsyncGenerator<StoredImageView[], void>;
  next(last: StoredImageView | undefined, isCut: boolean): string | null;
} {
  const { batches, more } = imageRows(deps.db, after === '' ? null : placeOf(after), limit);
  return {
    batches: mapped(batches, viewOfStoredImage),
    next: (last, isCut) => ((isCut || more()) && last !== undefined ? `${last.id}-${last.name}` : null),
  };
}

const ID_LENGTH = 36;

function placeOf(cursor: string): ImagePlace {
  return { id: cursor.slice(0, ID_LENGTH), name: cursor.slice(ID_LENGTH + 1) };
}
