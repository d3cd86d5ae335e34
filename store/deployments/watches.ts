/** Which worker watches which member cluster, and what is to be watched there. */
import { sql } from 'kysely';
import type { ContextState } from '../../domain/deployments/context-state.ts';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { AppliedKind } from '../../domain/deployments/snapshot.ts';
import type { Db } from '../connection/database.ts';

/** The right to write what is seen of a cluster, as long as no other worker has taken it. */
export interface WatchLease extends ClusterRef {
  number: number;
}

const ENDED: readonly ContextState[] = ['Terminated', 'TerminateFailed'];

/** Whether an AppContext with manifests that has not ended goes to the cluster of a row. */
const isUsed = (provider: string, cluster: string) => sql<boolean>`exists (
  select from context_groups g
  join deployment_contexts c on c.id = g.context and c.state <> all (${ENDED as ContextState[]})
  where g.provider = ${sql.ref(provider)} and g.cluster = ${sql.ref(cluster)}
    and exists (select from context_manifests m where m.context = g.context and m.app = g.app))`;

/** First number of a watch: after all the numbers that its cluster had before its watch was forgotten. */
const FIRST = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000000)::bigint`;

/** Takes watches that no worker has of clusters that have something to watch. */
export async function takeWatches(db: Db, now: Date, until: Date, limit: number): Promise<WatchLease[]> {
  await db
    .insertInto('cluster_watches')
    .columns(['provider', 'cluster', 'number', 'until'])
    .expression((eb) =>
      eb
        .selectFrom('member_clusters as k')
        .select(['k.provider', 'k.name', FIRST.as('number'), sql<Date>`${now}::timestamptz`.as('until')])
        .where(isUsed('k.provider', 'k.name'))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('cluster_watches as w')
                .select('w.number')
                .whereRef('w.provider', '=', 'k.provider')
                .whereRef('w.cluster', '=', 'k.name'),
            ),
          ),
        ),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const taken = await db
    .updateTable('cluster_watches')
    .set(({ eb }) => ({ number: eb('number', '+', 1), until }))
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('provider', 'cluster'),
        'in',
        selectFrom('cluster_watches as free')
          .select(['free.provider', 'free.cluster'])
          .where('free.until', '<=', now)
          .where(isUsed('free.provider', 'free.cluster'))
          .orderBy('free.until')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('provider', 'cluster'),
      ),
    )
    .returning(['provider', 'cluster', 'number'])
    .execute();
  return taken.map(({ number, ...ref }) => ({ ...ref, number: Number(number) }));
}

/** Keeps watches. Returns those that are kept: the others are another worker's by now, or have nothing to watch any more. */
export async function renewWatches(db: Db, leases: readonly WatchLease[], until: Date): Promise<WatchLease[]> {
  if (leases.length === 0) return [];
  const kept = await db
    .updateTable('cluster_watches')
    .set({ until })
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('provider', 'cluster', 'number'),
        'in',
        leases.map(({ provider, cluster, number }) => tuple(provider, cluster, number)),
      ),
    )
    .where(isUsed('cluster_watches.provider', 'cluster_watches.cluster'))
    .returning(['provider', 'cluster', 'number'])
    .execute();
  return kept.map(({ number, ...ref }) => ({ ...ref, number: Number(number) }));
}

/** Lets another worker take a watch at once. */
export async function releaseWatch(db: Db, { provider, cluster, number }: WatchLease, now: Date): Promise<void> {
  await db
    .updateTable('cluster_watches')
    .set({ until: now })
    .where('provider', '=', provider)
    .where('cluster', '=', cluster)
    .where('number', '=', number)
    .execute();
}

/** Removes the watches of clusters that have nothing to watch any more, with all that was seen there. */
export async function forgetWatches(db: Db): Promise<void> {
  await db
    .deleteFrom('cluster_watches')
    .where(({ not }) => not(isUsed('cluster_watches.provider', 'cluster_watches.cluster')))
    .execute();
}

/** Returns the kinds that AppContexts that have not ended bring to a cluster. */
export async function listAppliedKinds(db: Db, { provider, cluster }: ClusterRef): Promise<AppliedKind[]> {
  const rows = await db
    .selectFrom('context_groups as g')
    .innerJoin('deployment_contexts as c', 'c.id', 'g.context')
    .innerJoin('context_manifests as m', (join) =>
      join.onRef('m.context', '=', 'g.context').onRef('m.app', '=', 'g.app'),
    )
    .select(({ fn }) => [
      'm.api_group as group',
      'm.kind',
      fn.min<string>('m.version').as('version'),
      fn.max<Date | null>('g.applied_at').as('appliedAt'),
    ])
    .where('g.provider', '=', provider)
    .where('g.cluster', '=', cluster)
    .where('c.state', 'not in', ENDED)
    .groupBy(['m.api_group', 'm.kind'])
    .orderBy('m.api_group')
    .orderBy('m.kind')
    .execute();
  return rows;
}
