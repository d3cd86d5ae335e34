/** Rows of cluster providers. */
import type { Metadata } from '../../domain/deployments/schema.ts';
import type { Db } from '../connection/database.ts';

export interface Written {
  actor: string | null;
  operation: string | null;
  now: Date;
}

/** Adds a provider. Returns false when the name is taken, unless the same operation has made it before. */
export async function insertProvider(db: Db, metadata: Metadata, { actor, operation, now }: Written): Promise<boolean> {
  const { name } = metadata;
  const row = { name, metadata: JSON.stringify(metadata), operation, created_at: now, updated_at: now, actor };
  const added = await db
    .insertInto('cluster_providers')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returning('name')
    .executeTakeFirst();
  if (added !== undefined || operation === null) return added !== undefined;
  const found = await db
    .selectFrom('cluster_providers')
    .select('operation')
    .where('name', '=', name)
    .executeTakeFirst();
  return found?.operation === operation;
}

export async function findProvider(db: Db, name: string): Promise<Metadata | null> {
  const row = await db.selectFrom('cluster_providers').select('metadata').where('name', '=', name).executeTakeFirst();
  return row?.metadata ?? null;
}

/** Returns the providers by name. */
export async function listProviders(db: Db): Promise<Metadata[]> {
  const rows = await db.selectFrom('cluster_providers').select('metadata').orderBy('name').execute();
  return rows.map(({ metadata }) => metadata);
}

/** Holds a provider, so that no cluster is added to it or it is not removed meanwhile. Returns false when it is not there. */
export async function holdProvider(trx: Db, name: string, how: 'share' | 'update'): Promise<boolean> {
  const query = trx.selectFrom('cluster_providers').select('name').where('name', '=', name);
  const row = await (how === 'share' ? query.forShare() : query.forUpdate()).executeTakeFirst();
  return row !== undefined;
}

export async function deleteProvider(trx: Db, name: string): Promise<void> {
  await trx.deleteFrom('cluster_providers').where('name', '=', name).execute();
}

/** Whether a provider has clusters. */
export async function isProviderUsed(db: Db, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('member_clusters')
    .select('name')
    .where('provider', '=', name)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
