/** Repositories, the definitions in them, and the content of their files. */
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { DefinitionsTable, RepositoriesTable, RepositoryKind } from './tables.ts';

export type RepositoryRow = Selectable<RepositoriesTable>;
export type RepositoryInsert = Insertable<RepositoriesTable>;
export type DefinitionRow = Selectable<DefinitionsTable>;

/** Inserts a repository. Returns null where there is one of this name. */
export async function insertRepository(db: Db, row: RepositoryInsert): Promise<RepositoryRow | null> {
  const inserted = await db
    .insertInto('propagation_repositories')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return inserted ?? null;
}

export async function findRepository(db: Db, name: string): Promise<RepositoryRow | null> {
  const query = db.selectFrom('propagation_repositories').selectAll().where('name', '=', name);
  return (await query.executeTakeFirst()) ?? null;
}

/** Returns at most `limit` repositories after a name. */
export async function listRepositories(db: Db, after: string, limit: number): Promise<RepositoryRow[]> {
  const query = db.selectFrom('propagation_repositories').selectAll().where('name', '>', after);
  return query.orderBy('name').limit(limit).execute();
}

/** Keeps the repository, and what is in it, from being removed until the transaction ends. Returns its kind, null where it is not there. */
export async function holdRepository(trx: Db, name: string): Promise<RepositoryKind | null> {
  const query = trx.selectFrom('propagation_repositories').select('kind').where('name', '=', name).forShare();
  return (await query.executeTakeFirst())?.kind ?? null;
}

/** Removes a repository with its definitions. Returns whether it was there. */
export async function deleteRepository(trx: Db, name: string): Promise<boolean> {
  const deleted = await trx.deleteFrom('propagation_repositories').where('name', '=', name).executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

/** Names of resources that were made from definitions of a repository: the first `limit`. */
export async function listResourcesOf(
  db: Db,
  { repository, name, version }: { repository: string; name?: string; version?: string },
  limit: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('propagation_resources')
    .select('name')
    .where('repository', '=', repository)
    .$if(name !== undefined, (query) => query.where('definition', '=', name ?? ''))
    .$if(version !== undefined, (query) => query.where('version', '=', version ?? ''))
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map((row) => row.name);
}

/** Stores contents that are not stored yet. */
export async function insertContents(trx: Db, contents: ReadonlyMap<string, Buffer>): Promise<void> {
  const rows = [...contents].map(([hash, content]) => ({ hash, content }));
  for (let at = 0; at < rows.length; at += 500) {
    await trx
      .insertInto('propagation_contents')
      .values(rows.slice(at, at + 500))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** Returns the contents with these hashes. */
export async function findContents(db: Db, hashes: readonly string[]): Promise<Map<string, Buffer>> {
  const { rows } = await sql<{ hash: string; content: Buffer }>`
    select hash, content from propagation_contents where hash = any(${hashes}::text[])`.execute(db);
  return new Map(rows.map(({ hash, content }) => [hash, content]));
}

/** Inserts a definition. Returns false where this version is there. */
export async function insertDefinition(trx: Db, row: Insertable<DefinitionsTable>): Promise<boolean> {
  const inserted = await trx
    .insertInto('propagation_definitions')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export interface DefinitionKey {
  repository: string;
  name: string;
  version: string;
}

const keyed = (db: Db, { repository, name, version }: DefinitionKey) =>
  db
    .selectFrom('propagation_definitions')
    .selectAll()
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('version', '=', version);

export async function findDefinition(db: Db, key: DefinitionKey): Promise<DefinitionRow | null> {
  return (await keyed(db, key).executeTakeFirst()) ?? null;
}

/** Returns a definition with this content, whatever its name is. */
export async function findDefinitionOfHash(db: Db, hash: string): Promise<DefinitionRow | null> {
  const query = db.selectFrom('propagation_definitions').selectAll().where('hash', '=', hash);
  return (await query.orderBy('repository').orderBy('name').limit(1).executeTakeFirst()) ?? null;
}

/** Returns the definition, which no other transaction changes, removes or makes a resource of until this one ends. */
export async function lockDefinition(trx: Db, key: DefinitionKey): Promise<DefinitionRow | null> {
  return (await keyed(trx, key).forUpdate().executeTakeFirst()) ?? null;
}

/** Returns the definition, which no other transaction changes or removes until this one ends. */
export async function holdDefinition(trx: Db, key: DefinitionKey): Promise<DefinitionRow | null> {
  return (await keyed(trx, key).forShare().executeTakeFirst()) ?? null;
}

/** Removes one version. Returns whether it was there. */
export async function deleteDefinition(trx: Db, { repository, name, version }: DefinitionKey): Promise<boolean> {
  const deleted = await trx
    .deleteFrom('propagation_definitions')
    .where('repository', '=', repository)
    .where('name', '=', name)
    .where('version', '=', version)
    .executeTakeFirst();
  return deleted.numDeletedRows > 0n;
}

/** Returns names and versions of the definitions of a repository, or the versions of one of them. */
export async function listDefinitions(
  db: Db,
  repository: string,
  name?: string,
): Promise<{ name: string; version: string; hash: string }[]> {
  return db
    .selectFrom('propagation_definitions')
    .select(['name', 'version', 'hash'])
    .where('repository', '=', repository)
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .orderBy('name')
    .orderBy('version')
    .execute();
}
