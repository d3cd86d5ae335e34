/** Rows of projects and everything below them, and of controllers. */
import { sql } from 'kysely';
import type { RecordKind } from '../../domain/deployments/record-path.ts';
import type { Metadata } from '../../domain/deployments/schema.ts';
import type { Db } from '../connection/database.ts';
import type { Written } from './providers.ts';

export interface RecordKey {
  kind: RecordKind;
  path: string;
}

export interface NewRecord extends RecordKey {
  parent: string | null;
  metadata: Metadata;
  spec: object;
}

export interface RecordRow extends RecordKey {
  metadata: Metadata;
  spec: object;
}

const SHOWN = ['path', 'kind', 'metadata', 'spec'] as const;

/** Adds a record. `found`: the same operation has made it before; `taken`: its path is another record's. */
export async function insertRecord(
  trx: Db,
  { metadata, spec, ...key }: NewRecord,
  { actor, operation, now }: Written,
): Promise<'added' | 'found' | 'taken'> {
  const added = await trx
    .insertInto('placement_records')
    .values({
      ...key,
      ...{ metadata: JSON.stringify(metadata), spec: JSON.stringify(spec) },
      ...{ operation, created_at: now, updated_at: now, actor },
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('path')
    .executeTakeFirst();
  if (added !== undefined) return 'added';
  if (operation === null) return 'taken';
  const found = await trx
    .selectFrom('placement_records')
    .select('operation')
    .where('path', '=', key.path)
    .executeTakeFirst();
  return found?.operation === operation ? 'found' : 'taken';
}

/** Replaces what a record says. Returns false when it is not there. */
export async function replaceRecord(
  db: Db,
  { path, kind, metadata, spec }: Omit<NewRecord, 'parent'>,
  { actor, now }: Written,
): Promise<boolean> {
  const changed = await db
    .updateTable('placement_records')
    .set({ metadata: JSON.stringify(metadata), spec: JSON.stringify(spec), updated_at: now, actor })
    .where('path', '=', path)
    .where('kind', '=', kind)
    .returning('path')
    .executeTakeFirst();
  return changed !== undefined;
}

export async function findRecord(db: Db, { path, kind }: RecordKey): Promise<RecordRow | null> {
  const query = db.selectFrom('placement_records').select(SHOWN).where('path', '=', path).where('kind', '=', kind);
  return (await query.executeTakeFirst()) ?? null;
}

/** Holds a record until the transaction ends, so that nothing is added to it or it does not change meanwhile. */
export async function holdRecord(
  trx: Db,
  { path, kind }: RecordKey,
  how: 'share' | 'update',
): Promise<RecordRow | null> {
  const query = trx.selectFrom('placement_records').select(SHOWN).where('path', '=', path).where('kind', '=', kind);
  return (await (how === 'share' ? query.forShare() : query.forUpdate()).executeTakeFirst()) ?? null;
}

/** Returns the records of a kind below a parent, in the order in which they were made. */
export async function listRecords(db: Db, kind: RecordKind, parent: string | null): Promise<RecordRow[]> {
  return await db
    .selectFrom('placement_records')
    .select(SHOWN)
    .where('kind', '=', kind)
    .where('parent', parent === null ? 'is' : '=', parent)
    .orderBy('position')
    .execute();
}

/** Returns the records of a kind in a collection, by its path, in the order in which they were made. */
export async function listCollection(db: Db, kind: RecordKind, collection: string): Promise<RecordRow[]> {
  return await db
    .selectFrom('placement_records')
    .select(SHOWN)
    .where('kind', '=', kind)
    .where(isBelow(collection))
    .orderBy('position')
    .execute();
}

/** Whether any record of another kind than `except` stands below a path. */
export async function hasBelow(db: Db, path: string, except: RecordKind): Promise<boolean> {
  const query = db
    .selectFrom('placement_records')
    .select('path')
    .where(isBelow(path))
    .where('kind', '!=', except)
    .limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Whether a record has records below it. */
export async function isParent(db: Db, path: string): Promise<boolean> {
  const query = db.selectFrom('placement_records').select('path').where('parent', '=', path).limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}

export async function deleteRecord(trx: Db, path: string): Promise<void> {
  await trx.deleteFrom('placement_records').where('path', '=', path).execute();
}

/** Deletes everything below a record. */
export async function deleteBelow(trx: Db, path: string): Promise<void> {
  await trx.deleteFrom('placement_records').where(isBelow(path)).execute();
}

function isBelow(path: string) {
  // The character behind the slash: all paths below begin with the one before it.
  return sql<boolean>`path >= ${`${path}/`} and path < ${`${path}0`}`;
}
