/** Groups that wait for their clusters. */
import type { Phase } from '../../domain/deployments/context-state.ts';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { Db } from '../connection/database.ts';
import type { GroupKey, PhaseGroup } from './context-resources.ts';

export interface Wait {
  since: Date;
  notBefore: Date;
  retryMs: number;
}

/** Puts a group on record as waiting, and has its cluster probed as soon as the wait asks for it. */
export async function putWait(db: Db, group: PhaseGroup, { since, notBefore, retryMs }: Wait): Promise<void> {
  const { provider, cluster, phase } = group;
  const row = { phase, since, not_before: notBefore, retry_ms: retryMs };
  const due = new Date(since.getTime() + retryMs);
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('context_waits')
      .values({ ...group, ...row })
      .onConflict((conflict) => conflict.columns(['context', 'app', 'provider', 'cluster']).doUpdateSet(row))
      .execute();
    await trx
      .updateTable('member_cluster_probes')
      .set({ due_at: due })
      .where('provider', '=', provider)
      .where('name', '=', cluster)
      .where('due_at', '>', due)
      .execute();
  });
}

export async function deleteWait(db: Db, { context, app, provider, cluster }: GroupKey): Promise<void> {
  await db
    .deleteFrom('context_waits')
    .where('context', '=', context)
    .where('app', '=', app)
    .where('provider', '=', provider)
    .where('cluster', '=', cluster)
    .execute();
}

/** Nothing of an AppContext waits any more. */
export async function deleteWaits(trx: Db, context: string): Promise<void> {
  await trx.deleteFrom('context_waits').where('context', '=', context).execute();
}

/** Returns the wait of a group in this phase; null where it does not wait. */
export async function findWait(db: Db, { context, app, provider, cluster, phase }: PhaseGroup): Promise<Wait | null> {
  const row = await db
    .selectFrom('context_waits')
    .select(['since', 'not_before', 'retry_ms'])
    .where('phase', '=', phase)
    .where('context', '=', context)
    .where('app', '=', app)
    .where('provider', '=', provider)
    .where('cluster', '=', cluster)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { since: row.since, notBefore: row.not_before, retryMs: Number(row.retry_ms) };
}

/** Returns what waits for a cluster: the AppContexts with their phases, and the shortest time between two probes. */
export async function listWaitsFor(
  db: Db,
  { provider, cluster }: ClusterRef,
): Promise<{ context: string; phase: Phase; retryMs: number }[]> {
  const rows = await db
    .selectFrom('context_waits')
    .select(({ fn }) => ['context', 'phase', fn.min<string>('retry_ms').as('retry_ms')])
    .where('provider', '=', provider)
    .where('cluster', '=', cluster)
    .groupBy(['context', 'phase'])
    .execute();
  return rows.map(({ context, phase, retry_ms }) => ({ context, phase, retryMs: Number(retry_ms) }));
}
