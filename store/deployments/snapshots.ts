/** Rows of what is seen in member clusters. Each write holds the watch under which it is made, so that a worker that has lost it writes nothing. */
import { sql } from 'kysely';
import type { KindState } from '../../domain/deployments/freshness.ts';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { SeenObject, WatchedKind } from '../../domain/deployments/snapshot.ts';
import type { Db } from '../connection/database.ts';
import type { WatchLease } from './watches.ts';

/** Another worker has the watch. */
export class WatchLost extends Error {
  override name = 'WatchLost';
}

/** What was told of one object. */
export type Change = { there: SeenObject } | { gone: { namespace: string; name: string } };

/** Does a write under a watch. Throws `WatchLost`. */
async function under<Result>(db: Db, lease: WatchLease, write: (trx: Db) => Promise<Result>): Promise<Result> {
  const { provider, cluster, number } = lease;
  return await db.transaction().execute(async (trx) => {
    const query = trx.selectFrom('cluster_watches').select('number').forShare().where('provider', '=', provider);
    const held = await query.where('cluster', '=', cluster).where('number', '=', number).executeTakeFirst();
    if (held === undefined) throw new WatchLost(`another worker watches ${provider}+${cluster}`);
    return await write(trx);
  });
}

/** Begins a list of a kind. Returns its number. Throws `WatchLost`. */
export async function beginList(db: Db, lease: WatchLease, { group, version, kind }: WatchedKind): Promise<number> {
  const { provider, cluster } = lease;
  return await under(db, lease, async (trx) => {
    const row = await trx
      .insertInto('cluster_watch_kinds')
      .values({ provider, cluster, api_group: group, kind, version })
      .onConflict((conflict) =>
        conflict
          .columns(['provider', 'cluster', 'api_group', 'kind'])
          .doUpdateSet({ version, list_number: sql<number>`cluster_watch_kinds.list_number + 1` }),
      )
      .returning('list_number')
      .executeTakeFirstOrThrow();
    return Number(row.list_number);
  });
}

/** A list has told of everything: what was not in it is not there. Throws `WatchLost`. */
export async function endList(
  db: Db,
  lease: WatchLease,
  kind: WatchedKind,
  { number, beganAt }: { number: number; beganAt: Date },
): Promise<void> {
  await under(db, lease, async (trx) => {
    await trx
      .deleteFrom('cluster_objects')
      .where((eb) => eb.and(keyOf(lease, kind)))
      .where('list_number', '<', number)
      .execute();
    await trx
      .updateTable('cluster_watch_kinds')
      .set({ listed_at: beganAt, ...WELL })
      .where((eb) => eb.and(keyOf(lease, kind)))
      .execute();
  });
}

const WELL = { is_supported: true, failing_since: null, reason: null, message: null } as const;

/** The kind is watched again, from where it was. Throws `WatchLost`. */
export async function noteWatched(db: Db, lease: WatchLease, kind: WatchedKind): Promise<void> {
  await under(db, lease, (trx) =>
    trx
      .updateTable('cluster_watch_kinds')
      .set(WELL)
      .where((eb) => eb.and(keyOf(lease, kind)))
      .where('failing_since', 'is not', null)
      .execute(),
  );
}

/** The kind can be neither listed nor watched now. What was seen stays. Throws `WatchLost`. */
export async function noteFailing(
  db: Db,
  lease: WatchLease,
  { group, version, kind }: WatchedKind,
  { reason, message, now }: { reason: string; message: string; now: Date },
): Promise<void> {
  const { provider, cluster } = lease;
  await under(db, lease, (trx) =>
    trx
      .insertInto('cluster_watch_kinds')
      .values({ provider, cluster, api_group: group, kind, version, failing_since: now, reason, message })
      .onConflict((conflict) =>
        conflict.columns(['provider', 'cluster', 'api_group', 'kind']).doUpdateSet({
          failing_since: sql<Date>`coalesce(cluster_watch_kinds.failing_since, excluded.failing_since)`,
          ...{ is_supported: true, reason, message },
        }),
      )
      .execute(),
  );
}

/** The cluster does not serve the kind, or does not let it be watched. Nothing is known of its objects. Throws `WatchLost`. */
export async function noteUnsupported(
  db: Db,
  lease: WatchLease,
  kind: WatchedKind,
  { reason, message }: { reason: string; message: string },
): Promise<void> {
  const { provider, cluster } = lease;
  const said = { is_supported: false, listed_at: null, failing_since: null, reason, message };
  await under(db, lease, async (trx) => {
    await trx
      .deleteFrom('cluster_objects')
      .where((eb) => eb.and(keyOf(lease, kind)))
      .execute();
    const { group, version } = kind;
    await trx
      .insertInto('cluster_watch_kinds')
      .values({ provider, cluster, api_group: group, kind: kind.kind, version, ...said })
      .onConflict((conflict) => conflict.columns(['provider', 'cluster', 'api_group', 'kind']).doUpdateSet(said))
      .execute();
  });
}

/** Forgets a kind that is not watched any more. Throws `WatchLost`. */
export async function forgetKind(db: Db, lease: WatchLease, kind: Pick<WatchedKind, 'group' | 'kind'>): Promise<void> {
  await under(db, lease, (trx) =>
    trx
      .deleteFrom('cluster_watch_kinds')
      .where((eb) => eb.and(keyOf(lease, kind)))
      .execute(),
  );
}

/** Returns the kinds of a cluster that rows are kept of. */
export async function listKinds(db: Db, { provider, cluster }: ClusterRef): Promise<{ group: string; kind: string }[]> {
  return await db
    .selectFrom('cluster_watch_kinds')
    .select(['api_group as group', 'kind'])
    .where('provider', '=', provider)
    .where('cluster', '=', cluster)
    .execute();
}

/** Writes what was told of objects of one kind, each at most once. Throws `WatchLost`. */
export async function writeChanges(
  db: Db,
  lease: WatchLease,
  { kind, number, now }: { kind: WatchedKind; number: number; now: Date },
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  const there = changes.flatMap((change) => ('there' in change ? [change.there] : []));
  const gone = changes.flatMap((change) => ('gone' in change ? [change.gone] : []));
  const key = keyOf(lease, kind);
  await under(db, lease, async (trx) => {
    if (gone.length > 0) {
      await trx
        .deleteFrom('cluster_objects')
        .where((eb) => eb.and(keyOf(lease, kind)))
        .where(({ eb, refTuple, tuple }) =>
          eb(
            refTuple('namespace', 'name'),
            'in',
            gone.map(({ namespace, name }) => tuple(namespace, name)),
          ),
        )
        .execute();
    }
    if (there.length === 0) return;
    await trx
      .insertInto('cluster_objects')
      .values(
        there.map(({ namespace, name, uid, context, app, object }) => ({
          ...{ ...key, namespace, name, version: kind.version, uid, context, app },
          ...{ list_number: number, object: JSON.stringify(object), seen_at: now },
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['provider', 'cluster', 'api_group', 'kind', 'namespace', 'name']).doUpdateSet(({ ref }) => ({
          version: ref('excluded.version'),
          uid: ref('excluded.uid'),
          context: ref('excluded.context'),
          app: ref('excluded.app'),
          list_number: ref('excluded.list_number'),
          object: ref('excluded.object'),
          seen_at: ref('excluded.seen_at'),
        })),
      )
      .execute();
  });
}

const keyOf = ({ provider, cluster }: ClusterRef, { group, kind }: Pick<WatchedKind, 'group' | 'kind'>) => ({
  ...{ provider, cluster, api_group: group, kind },
});

/** How each cluster of an AppContext is watched: its kinds, and until when a worker has the watch. */
export interface WatchedCluster extends ClusterRef {
  watchedUntil: Date;
  kinds: KindState[];
}

/** Returns how the clusters of an AppContext are watched; clusters that never were are left out. */
export async function listWatchedClusters(db: Db, context: string): Promise<WatchedCluster[]> {
  const rows = await db
    .selectFrom('cluster_watches as w')
    .leftJoin('cluster_watch_kinds as k', (join) =>
      join.onRef('k.provider', '=', 'w.provider').onRef('k.cluster', '=', 'w.cluster'),
    )
    .select(['w.provider', 'w.cluster', 'w.until', 'k.api_group', 'k.kind'])
    .select(['k.is_supported', 'k.listed_at', 'k.failing_since', 'k.reason', 'k.message'])
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('context_groups as g')
          .select('g.app')
          .where('g.context', '=', context)
          .whereRef('g.provider', '=', 'w.provider')
          .whereRef('g.cluster', '=', 'w.cluster'),
      ),
    )
    .execute();
  const clusters = new Map<string, WatchedCluster>();
  for (const { provider, cluster, until, api_group, kind, is_supported, listed_at, failing_since, ...why } of rows) {
    const key = `${provider}+${cluster}`;
    const known = clusters.get(key) ?? { provider, cluster, watchedUntil: until, kinds: [] };
    clusters.set(key, known);
    if (api_group === null || kind === null) continue;
    const state = { group: api_group, kind, isSupported: is_supported ?? false };
    known.kinds.push({ ...state, ...why, listedAt: listed_at, failingSince: failing_since });
  }
  return [...clusters.values()];
}

/**
 * Returns the live objects on the clusters of an AppContext that have its label, and those that its manifests describe, whatever label they have.
 */
export async function listLive(db: Db, context: string) {
  const own = db
    .selectFrom('cluster_objects as o')
    .select(['o.provider', 'o.cluster', 'o.api_group', 'o.version', 'o.kind', 'o.namespace', 'o.name', 'o.object'])
    .select(['o.app', sql<boolean>`true`.as('is_own')])
    .where('o.context', '=', context);
  const others = db
    .selectFrom('cluster_objects as o')
    .innerJoin('context_resources as r', (join) =>
      join.onRef('r.provider', '=', 'o.provider').onRef('r.cluster', '=', 'o.cluster'),
    )
    .innerJoin('context_manifests as m', (join) =>
      join
        .onRef('m.context', '=', 'r.context')
        .onRef('m.app', '=', 'r.app')
        .onRef('m.key', '=', 'r.key')
        .onRef('m.api_group', '=', 'o.api_group')
        .onRef('m.kind', '=', 'o.kind')
        .onRef('m.name', '=', 'o.name'),
    )
    .select(['o.provider', 'o.cluster', 'o.api_group', 'o.version', 'o.kind', 'o.namespace', 'o.name', 'o.object'])
    .select(['r.app', sql<boolean>`false`.as('is_own')])
    .where('r.context', '=', context)
    .where(sql<boolean>`o.namespace = coalesce(r.sent_namespace, m.namespace)`)
    // Two apps of an AppContext may describe one object: it belongs to that which its label names.
    .where(({ eb, or }) => or([eb('o.context', '!=', context), eb('o.app', '!=', eb.ref('r.app'))]));
  return await own.unionAll(others).execute();
}
export type LiveRow = Awaited<ReturnType<typeof listLive>>[number];
