/** Rows of deployments that were made of one document, and of those that are to be removed. */
import type { Db } from '../connection/database.ts';

/** Notes what a document said, sealed. */
export async function insertShort(trx: Db, path: string, content: Buffer): Promise<void> {
  await trx.insertInto('short_deployments').values({ path, content }).execute();
}

/** Returns what the document of a deployment said, sealed; null where it was made otherwise. */
export async function findShort(db: Db, path: string): Promise<Buffer | null> {
  const row = await db.selectFrom('short_deployments').select('content').where('path', '=', path).executeTakeFirst();
  return row?.content ?? null;
}

/** Notes that a deployment is to be removed. The first call counts. */
export async function insertRemoval(trx: Db, path: string, actor: string | null, now: Date): Promise<void> {
  await trx
    .insertInto('deployment_removals')
    .values({ path, asked_at: now, actor })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function deleteRemoval(trx: Db, path: string): Promise<void> {
  await trx.deleteFrom('deployment_removals').where('path', '=', path).execute();
}

/** Whether a deployment is to be removed. */
export async function isRemoved(db: Db, path: string): Promise<boolean> {
  const query = db.selectFrom('deployment_removals').select('path').where('path', '=', path);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Returns deployments that are to be removed and have no AppContext that has not ended. */
export async function listDueRemovals(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('deployment_removals as r')
    .select('r.path')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('deployment_contexts as c')
            .select('c.id')
            .whereRef('c.owner', '=', 'r.path')
            .where('c.state', 'not in', ['Terminated', 'TerminateFailed']),
        ),
      ),
    )
    .orderBy('r.asked_at')
    .limit(limit)
    .execute();
  return rows.map(({ path }) => path);
}
