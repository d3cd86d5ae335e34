/** Syncs of repositories with git: wanted by users, ended by workers. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';
import type { RepositoryRow } from './definitions.ts';

/** Notes that a user wants a sync. Returns the repository, or null where no repository of this name is read from git. */
export async function wantSync(
  db: Db,
  name: string,
  { now, actor }: { now: Date; actor: string | null },
): Promise<RepositoryRow | null> {
  const updated = await db
    .updateTable('propagation_repositories')
    .set({ sync_wanted: sql<number>`sync_wanted + 1`, state: 'syncing', updated_at: now, actor })
    .where('name', '=', name)
    .where('kind', '=', 'git')
    .returningAll()
    .executeTakeFirst();
  return updated ?? null;
}

/** Returns the repository with this id, null where it is gone. */
export async function findRepositoryOfId(db: Db, id: string): Promise<RepositoryRow | null> {
  const query = db.selectFrom('propagation_repositories').selectAll().where('id', '=', id);
  return (await query.executeTakeFirst()) ?? null;
}

/** Returns the repository, which no other transaction changes until this one ends; null where it is gone. */
export async function lockRepositoryOfId(trx: Db, id: string): Promise<RepositoryRow | null> {
  const query = trx.selectFrom('propagation_repositories').selectAll().where('id', '=', id);
  return (await query.forUpdate().executeTakeFirst()) ?? null;
}

/** How a sync has ended: with a commit, or with what went wrong. */
export type SyncEnd = { commit: string } | { code: string; reason: string };

/** Notes the end of a sync of a locked repository. A sync that was wanted meanwhile leaves it `syncing`. */
export async function endSync(trx: Db, id: string, sync: number, end: SyncEnd, now: Date): Promise<void> {
  const state = 'commit' in end ? 'synced' : 'failed';
  await trx
    .updateTable('propagation_repositories')
    .set({
      ...('commit' in end ? { commit_id: end.commit, synced_at: now, code: null, reason: null } : end),
      sync_done: sync,
      state: sql`case when sync_wanted > ${sync} then 'syncing' else ${state} end`,
      updated_at: now,
    })
    .where('id', '=', id)
    .execute();
}

/** Returns ids of repositories of which a sync is wanted. */
export async function listWantedSyncs(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('propagation_repositories')
    .select('id')
    .whereRef('sync_wanted', '>', 'sync_done')
    .orderBy('name')
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the first repository that is read with this source, null for none. */
export async function findRepositoryOfSource(db: Db, source: string): Promise<string | null> {
  const query = db.selectFrom('propagation_repositories').select('name').where('source', '=', source);
  return (await query.orderBy('name').limit(1).executeTakeFirst())?.name ?? null;
}
