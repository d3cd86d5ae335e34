/** Projects and everything below them, and controllers: plain records with a parent. */
import type { Acting } from '../../domain/access/acting.ts';
import { nameInPath, RECORDS, type RecordKind, recordPath } from '../../domain/deployments/record-path.ts';
import type { StoredRecord } from '../../domain/deployments/record-schema.ts';
import type { Metadata } from '../../domain/deployments/schema.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Written } from '../../store/deployments/providers.ts';
import {
  deleteRecord,
  findRecord,
  holdRecord,
  insertRecord,
  isParent,
  listRecords,
  replaceRecord,
} from '../../store/deployments/records.ts';

export interface RecordDependencies {
  db: Db;
  clock(): Date;
}

export interface GivenRecord {
  metadata: Metadata;
  spec?: object | undefined;
}

/** Where a record is to stand. `name`: the part of its path, where that is not its name alone. */
export interface Place {
  kind: RecordKind;
  parent: string | null;
  name?: string | undefined;
}

/** What else happens in the transaction of a record. */
export interface Around {
  /** First of all: records above it are held from above, so that two calls never wait for each other. */
  before?: (trx: Db) => Promise<void>;
  /** Once it is added: what belongs to it. */
  beside?: (trx: Db, path: string) => Promise<void>;
}

/** Adds a record. Throws `not_found` for the parent, `already_exists`. */
export async function addRecord(
  { db, clock }: RecordDependencies,
  by: Acting,
  { kind, parent, name }: Place,
  { metadata, spec = {} }: GivenRecord,
  { before, beside }: Around = {},
): Promise<StoredRecord> {
  const written = { actor: by.actor, operation: by.operation ?? null, now: clock() };
  const record = { metadata, spec };
  await db.transaction().execute(async (trx) => {
    await before?.(trx);
    const { path, isNew } = await addRecordIn(trx, written, { kind, parent, name }, record);
    if (isNew) await beside?.(trx, path);
  });
  return shown(record);
}

/**
 * Adds a record in a transaction. `isNew`: false where the same operation has made it before. Throws `not_found` for the parent,
 * `already_exists`.
 */
export async function addRecordIn(
  trx: Db,
  written: Written,
  { kind, parent, name }: Place,
  { metadata, spec = {} }: GivenRecord,
): Promise<{ path: string; isNew: boolean }> {
  const path = recordPath(parent, kind, name ?? metadata.name);
  await holdParent(trx, kind, parent);
  const made = await insertRecord(trx, { path, kind, parent, metadata, spec }, written);
  if (made === 'taken') throw musterError('already_exists', `${RECORDS[kind].word} '${metadata.name}' exists already`);
  return { path, isNew: made === 'added' };
}

/** Replaces a record, or adds it. Throws `bad_request` where the names differ. */
export async function putRecord(
  { db, clock }: RecordDependencies,
  by: Acting,
  { kind, name }: { kind: 'project' | 'controller'; name: string },
  { metadata, spec = {} }: GivenRecord,
): Promise<{ record: StoredRecord; isNew: boolean }> {
  if (metadata.name !== name) {
    throw musterError('bad_request', `The path names '${name}', the body '${metadata.name}'`, 'metadata.name');
  }
  const written = { actor: by.actor, operation: by.operation ?? null, now: clock() };
  const record = { path: recordPath(null, kind, name), kind, metadata, spec };
  const isNew = await db.transaction().execute(async (trx) => {
    if (await replaceRecord(trx, record, written)) return false;
    const made = await insertRecord(trx, { ...record, parent: null }, written);
    if (made === 'taken') throw musterError('already_exists', `'${name}' was made at the same moment: try again`);
    return true;
  });
  return { record: shown({ metadata, spec }), isNew };
}

/** Returns a record. Throws `not_found`. */
export async function getRecord(
  { db }: Pick<RecordDependencies, 'db'>,
  kind: RecordKind,
  path: string,
): Promise<StoredRecord> {
  const found = await findRecord(db, { kind, path });
  if (found === null) throw recordNotFound(kind, path);
  return shown(found);
}

/** Returns the records of a collection in the order in which they were made. Throws `not_found` for the parent. */
export async function recordsOf(
  deps: Pick<RecordDependencies, 'db'>,
  kind: RecordKind,
  parent: string | null,
): Promise<StoredRecord[]> {
  const above = RECORDS[kind].parent;
  if (above !== null && parent !== null) await getRecord(deps, above, parent);
  return (await listRecords(deps.db, kind, parent)).map(shown);
}

/** Removes a record. Throws `not_found`, and `has_children` while it has records below it. */
export async function removeRecord(
  { db }: Pick<RecordDependencies, 'db'>,
  kind: RecordKind,
  path: string,
  { before, check }: { before?: (trx: Db) => Promise<void>; check?: (trx: Db) => Promise<void> } = {},
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await before?.(trx);
    if ((await holdRecord(trx, { kind, path }, 'update')) === null) throw recordNotFound(kind, path);
    await check?.(trx);
    if (await isParent(trx, path)) {
      throw musterError(
        'has_children',
        `${RECORDS[kind].word} '${nameInPath(path)}' has records below it: delete them first`,
      );
    }
    await deleteRecord(trx, path);
  });
}

/** Holds the parent of a record, so that it is not removed meanwhile. Throws `not_found`. */
async function holdParent(trx: Db, kind: RecordKind, parent: string | null): Promise<void> {
  const above = RECORDS[kind].parent;
  if (above === null || parent === null) return;
  if ((await holdRecord(trx, { kind: above, path: parent }, 'share')) === null) throw recordNotFound(above, parent);
}

export function recordNotFound(kind: RecordKind, path: string) {
  return musterError('not_found', `${RECORDS[kind].word} '${nameInPath(path)}' could not be found: /v2/${path}`);
}

/** A record whose kind has no spec shows none. */
function shown({ metadata, spec }: { metadata: Metadata; spec: object }): StoredRecord {
  return Object.keys(spec).length === 0 ? { metadata } : { metadata, spec: spec as Record<string, unknown> };
}
