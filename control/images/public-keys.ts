import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { type MusterError, musterError } from '../../domain/errors.ts';
import { readPublicKey } from '../../domain/images/public-key.ts';
import type { PublicKeyCreate, PublicKeyView } from '../../domain/images/schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  deletePublicKey as deleteRow,
  findPublicKey,
  insertPublicKey,
  type KeyPlace,
  listPublicKeys,
} from '../../store/images/images.ts';
import { viewOfPublicKey } from './image-views.ts';
import type { ImageDependencies } from './ports.ts';

function keyNotFound(id: string): MusterError {
  return musterError('image_key_not_found', `There is no public key with the id ${id}`);
}

/**
 * Makes the record of a key; names may repeat (cfs-flows 7). What is stored is one line: type, key and comment.
 * @throws `image_request_invalid` for a text that is not one public key
 */
export async function createPublicKey(
  deps: Pick<ImageDependencies, 'db' | 'clock'>,
  by: Acting,
  { name, public_key }: PublicKeyCreate,
): Promise<PublicKeyView> {
  const read = readPublicKey(public_key);
  if ('mistake' in read) {
    const detail = `The public key ${read.mistake}. A public key is one line, TYPE KEY COMMENT, as ssh-keygen writes it`;
    throw musterError('image_request_invalid', detail, 'public_key');
  }
  const id = by.operation ?? randomUUID();
  const row = { id, name, public_key: read.line, created_at: deps.clock(), actor: by.actor };
  await insertPublicKey(deps.db, row);
  return viewOfPublicKey((await findPublicKey(deps.db, id)) ?? row);
}

/** A key; throws `image_key_not_found`. */
export async function getPublicKey(deps: { db: Db }, id: string): Promise<PublicKeyView> {
  const row = isUuid(id) ? await findPublicKey(deps.db, id) : null;
  if (row === null) throw keyNotFound(id);
  return viewOfPublicKey(row);
}

/** Keys that are read at once: each has up to 16 KiB. */
const BATCH = 200;

/** All keys by name, or those of one name, some at a time. */
export async function* publicKeyBatches(
  deps: { db: Db },
  named?: string,
  batch = BATCH,
): AsyncGenerator<PublicKeyView[], void> {
  let after: KeyPlace | null = null;
  do {
    const rows = await listPublicKeys(deps.db, { named, after, limit: batch });
    yield rows.map(viewOfPublicKey);
    const last = rows.length === batch ? rows.at(-1) : undefined;
    after = last === undefined ? null : { name: last.name, created: last.place, id: last.id };
  } while (after !== null);
}

/** Removes a key; jobs that use it keep it. Throws `image_key_not_found`. */
export async function deletePublicKey(deps: { db: Db }, id: string): Promise<void> {
  if (!isUuid(id) || !(await deleteRow(deps.db, id))) throw keyNotFound(id);
}
