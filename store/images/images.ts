/** Images of the built-in image service, and the public keys that open its shells. */
import { type Selectable, sql } from 'kysely';
import type { Architecture } from '../../domain/images/image-words.ts';
import type { Db } from '../connection/database.ts';
import type { ImagePublicKeysTable, ImagesTable, StoredLink } from './tables.ts';

export type ImageRow = Selectable<ImagesTable>;
export type PublicKeyRow = Selectable<ImagePublicKeysTable>;

export type NewImage = ImageRow;

/** Inserts an image; one of that id that is there already stays as it is, and counts as made. */
export async function insertImage(db: Db, image: NewImage): Promise<void> {
  await db
    .insertInto('images')
    .values({ ...image, link: asJson(image.link), metadata: JSON.stringify(image.metadata) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function findImage(db: Db, id: string): Promise<ImageRow | null> {
  return (await db.selectFrom('images').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** At most `limit` images in the order of their names, those after a place; null: from the beginning. */
export async function listImages(
  db: Db,
  { after, limit }: { after: { name: string; id: string } | null; limit: number },
): Promise<ImageRow[]> {
  const place = sql<boolean>`(name, id) > (${after?.name}::text, ${after?.id}::uuid)`;
  return db
    .selectFrom('images')
    .selectAll()
    .$if(after !== null, (query) => query.where(place))
    .orderBy('name')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export interface ImageChange {
  link?: StoredLink;
  arch?: Architecture;
  metadata?: Record<string, string>;
  actor: string | null;
  updated_at: Date;
}

/** The image to be changed in this transaction: others wait. */
export async function lockImage(db: Db, id: string): Promise<ImageRow | null> {
  return (await db.selectFrom('images').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()) ?? null;
}

export async function updateImage(db: Db, id: string, change: ImageChange): Promise<ImageRow> {
  const { link, metadata, ...plain } = change;
  return db
    .updateTable('images')
    .set({
      ...plain,
      ...(link === undefined ? {} : { link: asJson(link) }),
      ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteImage(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('images').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n;
}

/** Of these ids, those that have a file in a directory. */
export async function imagesStoredIn(db: Db, storeId: string, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom('images')
    .select('id')
    .where('store_id', '=', storeId)
    .where(sql<boolean>`id::text = any(${[...ids]}::text[])`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Notes that the file of an image is to be removed from its directory, by whoever comes to it first. */
export async function noteImageRemoval(db: Db, { id, store_id }: ImageRow, now: Date): Promise<void> {
  if (store_id === null) return;
  await db
    .insertInto('image_removals')
    .values({ id, store_id, deleted_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deleted images whose files may still be in a directory. */
export async function listImageRemovals(db: Db, storeId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('image_removals')
    .select('id')
    .where('store_id', '=', storeId)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Notes that the file of a deleted image is gone. */
export async function forgetImageRemoval(db: Db, id: string): Promise<void> {
  await db.deleteFrom('image_removals').where('id', '=', id).execute();
}

/** Makes the record of a key; one that has the id already stays as it is. */
export async function insertPublicKey(db: Db, key: PublicKeyRow): Promise<void> {
  await db
    .insertInto('image_public_keys')
    .values(key)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function findPublicKey(db: Db, id: string): Promise<PublicKeyRow | null> {
  return (await db.selectFrom('image_public_keys').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Where a list goes on: a time to the microsecond, as Postgres has it, and what is ordered before and after it. */
export interface KeyPlace {
  name: string;
  created: string;
  id: string;
}

/** At most `limit` keys in the order of their names, those after a place; null: from the beginning. With `named` those of that name. */
export async function listPublicKeys(
  db: Db,
  { named, after, limit }: { named?: string | undefined; after: KeyPlace | null; limit: number },
): Promise<(PublicKeyRow & { place: string })[]> {
  const place = sql<boolean>`
    (name, created_at, id) > (${after?.name}::text, ${after?.created}::timestamptz, ${after?.id}::uuid)`;
  return db
    .selectFrom('image_public_keys')
    .selectAll()
    .select(sql<string>`created_at::text`.as('place'))
    .$if(named !== undefined, (query) => query.where('name', '=', named ?? ''))
    .$if(after !== null, (query) => query.where(place))
    .orderBy('name')
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function deletePublicKey(db: Db, id: string): Promise<boolean> {
  return (await db.deleteFrom('image_public_keys').where('id', '=', id).executeTakeFirst()).numDeletedRows > 0n;
}

function asJson(link: StoredLink | null): string | null {
  return link === null ? null : JSON.stringify(link);
}
