/** Rows of the probes of member clusters. */
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { Db } from '../connection/database.ts';
import { noteConnectivity } from './context-events.ts';

export interface DueCluster extends ClusterRef {
  /** Sealed. */
  kubeconfig: Buffer;
  revision: number;
}

/** Takes clusters whose probe is due and puts their next probe off, so that no other worker takes them. */
export async function takeDueClusters(db: Db, now: Date, next: Date, limit: number): Promise<DueCluster[]> {
  const taken = await db
    .updateTable('member_cluster_probes')
    .set({ due_at: next })
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('provider', 'name'),
        'in',
        selectFrom('member_cluster_probes as due')
          .select(['due.provider', 'due.name'])
          .where('due.due_at', '<=', now)
          .orderBy('due.due_at')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('provider', 'name'),
      ),
    )
    .returning(['provider', 'name'])
    .execute();
  if (taken.length === 0) return [];
  const rows = await db
    .selectFrom('member_clusters')
    .select(['provider', 'name as cluster', 'kubeconfig', 'credential_revision as revision'])
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('provider', 'name'),
        'in',
        taken.map(({ provider, name }) => tuple(provider, name)),
      ),
    )
    .execute();
  return rows;
}

export type ProbeNote = { seen: { version: string } } | { failed: { reason: string; message: string } };

/**
 * Keeps what a probe said, and what it changes for AppContexts, in one transaction: a change is told once. Nothing is kept of a credential that was
 * replaced meanwhile.
 */
export async function noteProbe(
  db: Db,
  { provider, cluster, revision }: Omit<DueCluster, 'kubeconfig'>,
  note: ProbeNote,
  { now, next }: { now: Date; next: Date },
): Promise<void> {
  const said =
    'seen' in note
      ? { is_answering: true, last_seen: now, version: note.seen.version, reason: null, message: null }
      : { is_answering: false, ...note.failed };
  await db.transaction().execute(async (trx) => {
    const former = await trx
      .selectFrom('member_cluster_probes')
      .select('is_answering')
      .where('provider', '=', provider)
      .where('name', '=', cluster)
      .forUpdate()
      .executeTakeFirst();
    const noted = await trx
      .updateTable('member_cluster_probes as p')
      .from('member_clusters as c')
      .set({ ...said, probed_at: now, due_at: next })
      .whereRef('c.provider', '=', 'p.provider')
      .whereRef('c.name', '=', 'p.name')
      .where('p.provider', '=', provider)
      .where('p.name', '=', cluster)
      .where('c.credential_revision', '=', revision)
      .returning('p.name')
      .executeTakeFirst();
    if (noted === undefined || former?.is_answering === said.is_answering) return;
    await noteConnectivity(trx, { provider, cluster }, said.is_answering, now);
  });
}
