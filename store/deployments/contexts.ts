/** Rows of AppContexts: what is asked for, and how far it got. */
import { sql } from 'kysely';
import type { ContextState, Phase } from '../../domain/deployments/context-state.ts';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { ContextSettings } from '../../domain/deployments/record-schema.ts';
import type { RsyncStatus } from '../../domain/deployments/resource-status.ts';
import type { Db } from '../connection/database.ts';
import { noteState, resourcesBefore, TOLD, updateNoting } from './context-events.ts';

export interface ContextRow {
  id: string;
  owner: string;
  state: ContextState;
  wanted: Phase | null;
  /** Begin of the phase that is wanted; null: it has not begun. */
  phase_began_at: Date | null;
  is_stopped: boolean;
  namespace: string;
  settings: ContextSettings;
}

const SHOWN = ['id', 'owner', 'state', 'wanted', 'phase_began_at', 'is_stopped', 'namespace', 'settings'] as const;
/** States in which nothing more is tried. */
const ENDED: readonly ContextState[] = ['Terminated', 'TerminateFailed'];

export async function findContext(db: Db, id: string): Promise<ContextRow | null> {
  return (await db.selectFrom('deployment_contexts').select(SHOWN).where('id', '=', id).executeTakeFirst()) ?? null;
}

/** Holds an AppContext until the transaction ends. */
export async function holdContext(trx: Db, id: string): Promise<ContextRow | null> {
  const query = trx.selectFrom('deployment_contexts').select(SHOWN).where('id', '=', id);
  return (await query.forUpdate().executeTakeFirst()) ?? null;
}

/** Returns the states of all AppContexts of a record. */
export async function listContextStates(db: Db, owner: string): Promise<Map<string, ContextState>> {
  const rows = await db.selectFrom('deployment_contexts').select(['id', 'state']).where('owner', '=', owner).execute();
  return new Map(rows.map(({ id, state }) => [id, state]));
}

/** Whether an AppContext that has not ended goes to a logical cloud. */
export async function isCloudInUse(db: Db, cloud: string): Promise<boolean> {
  const query = db.selectFrom('deployment_contexts').select('id').where('cloud', '=', cloud);
  return (await query.where('state', 'not in', ENDED).limit(1).executeTakeFirst()) !== undefined;
}

/** Whether an AppContext that has not ended belongs to a deployment intent group of a composite app. */
export async function isAppInUse(db: Db, compositeApp: string): Promise<boolean> {
  const query = db
    .selectFrom('deployment_contexts as c')
    .innerJoin('placement_records as r', 'r.path', 'c.owner')
    .select('c.id')
    .where('r.parent', '=', compositeApp)
    .where('c.state', 'not in', ENDED);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** Whether an AppContext that has not ended belongs to a deployment intent group that names a composite profile. */
export async function isProfileInUse(db: Db, compositeApp: string, profile: string): Promise<boolean> {
  const query = db
    .selectFrom('deployment_contexts as c')
    .innerJoin('placement_records as r', 'r.path', 'c.owner')
    .select('c.id')
    .where('r.parent', '=', compositeApp)
    .where('r.kind', '=', 'group')
    .where(sql<boolean>`r.spec ->> 'profile' = ${profile}`)
    .where('c.state', 'not in', ENDED);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Whether an AppContext that has not ended goes to a cluster, and an app intent of its group asks for a label of the cluster's provider. Intents
 * cannot change while an AppContext has not ended, so they are those that it was placed by.
 */
export async function isLabelInUse(db: Db, { provider, cluster }: ClusterRef, label: string): Promise<boolean> {
  const asks = sql<boolean>`jsonb_path_exists(i.spec,
    '$.** ? (@."cluster-label-name" == $label && @."provider-name" == $provider)',
    jsonb_build_object('label', ${label}::text, 'provider', ${provider}::text))`;
  const query = db
    .selectFrom('context_groups as g')
    .innerJoin('deployment_contexts as c', 'c.id', 'g.context')
    .innerJoin('placement_records as i', (join) =>
      join.on('i.kind', '=', 'app-intent').on(sql<boolean>`starts_with(i.path, c.owner || '/')`),
    )
    .select('c.id')
    .where('g.provider', '=', provider)
    .where('g.cluster', '=', cluster)
    .where('c.state', 'not in', ENDED)
    .where(asks);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** Removes AppContexts of a record that have ended, all but the last so many. */
export async function forgetEnded(trx: Db, owner: string, kept: number): Promise<void> {
  await trx
    .deleteFrom('deployment_contexts')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('deployment_contexts')
        .select('id')
        .where('owner', '=', owner)
        .where('state', 'in', ENDED)
        .orderBy('created_at', 'desc')
        .orderBy('id')
        .offset(kept),
    )
    .execute();
}

/** Whether an AppContext that has not ended goes to a cluster. */
export async function isClusterInUse(db: Db, { provider, cluster }: ClusterRef): Promise<boolean> {
  const query = db
    .selectFrom('context_groups as g')
    .innerJoin('deployment_contexts as c', 'c.id', 'g.context')
    .select('c.id')
    .where('g.provider', '=', provider)
    .where('g.cluster', '=', cluster)
    .where('c.state', 'not in', ENDED);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

export interface ContextChange {
  state: ContextState;
  wanted: Phase | null;
  isStopped: boolean;
}

/** Writes how an AppContext that is held stands. What is wanted anew has not begun. */
export async function writeContext(
  trx: Db,
  id: string,
  { state, wanted, isStopped }: ContextChange,
  now: Date,
): Promise<void> {
  await noteState(trx, id, state, now);
  await trx
    .updateTable('deployment_contexts')
    .set({
      ...{ state, wanted, is_stopped: isStopped, changed_at: now },
      phase_began_at: sql`case when wanted = ${wanted}::text then phase_began_at end`,
      ...(wanted === null ? {} : { wanted_at: now }),
    })
    .where('id', '=', id)
    .execute();
}

/** Begins a deletion: what was sent at least once is to be deleted, of another nothing can be there. */
export async function beginDeletion(trx: Db, id: string, now: Date): Promise<void> {
  const next = sql<RsyncStatus>`case when status = 'Deleted' then 'Deleted'
    when status = 'Applied' or attempted then 'Pending' else 'Deleted' end`;
  const update = trx
    .updateTable('context_resources')
    .set({ status: next, reason: null, message: null, attempts: 0, waits_since: null, changed_at: now })
    .where('context', '=', id)
    .returning(TOLD);
  await updateNoting(trx, id, resourcesBefore(trx, id), update);
  await trx.deleteFrom('context_waits').where('context', '=', id).execute();
}

/** Returns how many resources of an AppContext have each status. */
export async function countStatuses(db: Db, id: string): Promise<Partial<Record<RsyncStatus, number>>> {
  const rows = await db
    .selectFrom('context_resources')
    .select(({ fn }) => ['status', fn.countAll<string>().as('count')])
    .where('context', '=', id)
    .groupBy('status')
    .execute();
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
}

/** Returns how many resources of an AppContext were sent to their clusters, or are about to be, and are not deleted. */
export async function countSent(db: Db, id: string): Promise<number> {
  const row = await db
    .selectFrom('context_resources')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('context', '=', id)
    .where('attempted', '=', true)
    .where('status', '!=', 'Deleted')
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Returns the clusters of an AppContext that have something left to do, each with its apps in their order. */
export async function listOpenGroups(db: Db, id: string): Promise<(ClusterRef & { app: string })[]> {
  return await db
    .selectFrom('context_groups as g')
    .select(['g.provider', 'g.cluster', 'g.app'])
    .where('g.context', '=', id)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('context_resources as r')
          .select('r.key')
          .whereRef('r.context', '=', 'g.context')
          .whereRef('r.app', '=', 'g.app')
          .whereRef('r.provider', '=', 'g.provider')
          .whereRef('r.cluster', '=', 'g.cluster')
          .where('r.status', 'in', ['Pending', 'Retrying']),
      ),
    )
    .orderBy('g.provider')
    .orderBy('g.cluster')
    .orderBy('g.position')
    .execute();
}

/** Notes that the phase that is wanted has begun, of an AppContext that is held. */
export async function noteBegin(trx: Db, id: string, now: Date): Promise<void> {
  await trx
    .updateTable('deployment_contexts')
    .set({ phase_began_at: now })
    .where('id', '=', id)
    .where('phase_began_at', 'is', null)
    .execute();
}
