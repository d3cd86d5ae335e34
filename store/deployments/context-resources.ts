/** Rows of the resources of an AppContext: what the work of a phase reads and writes. */
import { sql } from 'kysely';
import type { AppStatus } from '../../domain/deployments/app-standing.ts';
import type { Phase } from '../../domain/deployments/context-state.ts';
import type { Finding } from '../../domain/deployments/finding.ts';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { RsyncStatus } from '../../domain/deployments/resource-status.ts';
import type { Db } from '../connection/database.ts';
import { resourcesBefore, TOLD, updateNoting } from './context-events.ts';

/** One app on one cluster. */
export interface GroupKey extends ClusterRef {
  context: string;
  app: string;
}

/** The same in one phase: what comes late from another phase is not written. */
export interface PhaseGroup extends GroupKey {
  phase: Phase;
}

const OPEN: readonly RsyncStatus[] = ['Pending', 'Retrying'];

/** Returns the resources of a group in install order, each with its frozen manifest. */
export async function listGroupResources(db: Db, { context, app, provider, cluster }: GroupKey) {
  return await db
    .selectFrom('context_resources as r')
    .innerJoin('context_manifests as m', (join) =>
      join.onRef('m.context', '=', 'r.context').onRef('m.app', '=', 'r.app').onRef('m.key', '=', 'r.key'),
    )
    .select(['r.key', 'r.status', 'r.attempted', 'r.finding', 'r.former_owner', 'r.releasing', 'r.waits_since'])
    .select(['r.reason', 'r.message', 'r.call_until', 'r.stray_until', 'r.changed_at'])
    .select(['m.api_group as group', 'm.version', 'm.kind', 'm.namespace', 'm.name'])
    .select(['m.manifest', 'm.seal_id', 'm.sealed'])
    .where('r.context', '=', context)
    .where('r.app', '=', app)
    .where('r.provider', '=', provider)
    .where('r.cluster', '=', cluster)
    .orderBy('r.number')
    .execute();
}
export type GroupResource = Awaited<ReturnType<typeof listGroupResources>>[number];

/** Returns the statuses that the resources of apps have, each once for an app. */
export async function listAppStatuses(db: Db, context: string, apps: readonly string[]): Promise<AppStatus[]> {
  if (apps.length === 0) return [];
  return await db
    .selectFrom('context_resources')
    .select(['app', 'status'])
    .distinct()
    .where('context', '=', context)
    .where('app', 'in', [...apps])
    .execute();
}

/** Returns the clusters on which apps have something left to do that was not given up. */
export async function listClustersOfApps(db: Db, context: string, apps: readonly string[]): Promise<ClusterRef[]> {
  if (apps.length === 0) return [];
  return await db
    .selectFrom('context_resources')
    .select(['provider', 'cluster'])
    .distinct()
    .where('context', '=', context)
    .where('app', 'in', [...apps])
    .where('status', 'in', OPEN)
    .where(({ eb, or }) => or([eb('reason', 'is', null), eb('reason', '!=', 'DependencyFailed')]))
    .orderBy('provider')
    .orderBy('cluster')
    .execute();
}

/** Notes that a group is about to be applied for the first time: what was listed before does not tell whether its objects are there. */
export async function noteFirstApply(db: Db, { context, app, provider, cluster }: GroupKey, now: Date): Promise<void> {
  await db
    .updateTable('context_groups')
    .set({ applied_at: now })
    .where('context', '=', context)
    .where('app', '=', app)
    .where('provider', '=', provider)
    .where('cluster', '=', cluster)
    .where('applied_at', 'is', null)
    .execute();
}

export interface Attempt {
  finding: Finding;
  formerOwner: string | null;
  /** Namespace of the object; empty: its kind has none. */
  within: string;
  /** The apply has arrived by then, or never does. */
  until: Date;
  /** The same of a former apply of this try, whose end was seen; null: there was none. */
  ended: Date | null;
}

/**
 * Commits, before the call, whose the object is and that an apply is about to be sent. An earlier apply whose end
 * was not recorded may still arrive: its time is kept. Returns false when it is not wanted any more.
 */
export async function noteAttempt(
  db: Db,
  group: PhaseGroup,
  key: string,
  { finding, formerOwner, within, until, ended }: Attempt,
): Promise<boolean> {
  const noted = await ofGroup(db, group, { evenStopped: false })
    .set({
      ...{ attempted: true, finding, former_owner: formerOwner, waits_since: null },
      ...{ sent_namespace: within, call_until: until },
      stray_until: sql<Date | null>`case when call_until = ${ended}::timestamptz then stray_until
        else greatest(stray_until, call_until) end`,
    })
    .where('key', '=', key)
    .where('status', 'in', OPEN)
    .returning('key')
    .executeTakeFirst();
  return noted !== undefined;
}

/** Commits that an apply has had an answer, whatever is wanted by now. */
export async function noteCallEnded(
  db: Db,
  { context, app, provider, cluster }: GroupKey,
  key: string,
  until: Date,
): Promise<void> {
  await db
    .updateTable('context_resources')
    .set({ call_until: null })
    .where('context', '=', context)
    .where('app', '=', app)
    .where('provider', '=', provider)
    .where('cluster', '=', cluster)
    .where('key', '=', key)
    .where('call_until', '=', until)
    .execute();
}

/** Commits, before the call, that an object is about to be given up: afterwards its label does not tell any more. */
export async function noteRelease(db: Db, group: PhaseGroup, key: string): Promise<void> {
  await ofGroup(db, group).set({ releasing: true }).where('key', '=', key).execute();
}

export interface Outcome {
  status: RsyncStatus;
  reason: string | null;
  message: string | null;
  uid?: string;
  resourceVersion?: string;
  /** The object, or its namespace, is seen being deleted since then. */
  waitsSince?: Date | null;
  /** Time of the apply that this is the answer to. */
  answered?: Date;
}

/** The outcome of a resource, and when it was known. */
export interface KnownOutcome extends Outcome {
  key: string;
  at: Date;
}

/**
 * Writes what became of resources, each at most once. Nothing is written over a resource that is done in this phase, or when another phase is
 * wanted by now. Returns the keys of those that were written.
 */
export async function noteOutcomes(db: Db, group: PhaseGroup, outcomes: readonly KnownOutcome[]): Promise<string[]> {
  if (outcomes.length === 0) return [];
  const given = outcomes.map((outcome) => ({
    ...{ of_key: outcome.key, new_status: outcome.status, new_reason: outcome.reason, new_message: outcome.message },
    ...{ at: outcome.at, new_uid: outcome.uid, new_version: outcome.resourceVersion, answered: outcome.answered },
    ...{ has_waits: outcome.waitsSince !== undefined, waits: outcome.waitsSince },
  }));
  // What a cluster says may be cut in the middle of a character, which JSON of the database refuses.
  const json = JSON.stringify(given, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
  const update = ofGroup(db, group)
    .from(
      sql<{ of_key: string }>`jsonb_to_recordset(${json}::jsonb)`.as<'o'>(
        sql`o(of_key text, new_status text, new_reason text, new_message text, at timestamptz, new_uid text, new_version text,
          answered timestamptz, has_waits boolean, waits timestamptz)`,
      ),
    )
    .set(({ eb }) => ({
      status: sql<RsyncStatus>`o.new_status`,
      reason: sql<string | null>`o.new_reason`,
      message: sql<string | null>`o.new_message`,
      changed_at: sql<Date>`o.at`,
      attempts: eb('attempts', '+', 1),
      uid: sql<string | null>`coalesce(o.new_uid, uid)`,
      resource_version: sql<string | null>`coalesce(o.new_version, resource_version)`,
      waits_since: sql<Date | null>`case when o.has_waits then o.waits else waits_since end`,
      call_until: sql<Date | null>`case when o.answered is null or call_until <> o.answered then call_until end`,
    }))
    .whereRef('key', '=', 'o.of_key')
    .where('status', 'in', OPEN)
    .returning(TOLD);
  const before = beforeOf(db, group).where(
    'key',
    'in',
    outcomes.map(({ key }) => key),
  );
  return await updateNoting(db, group.context, before, update);
}

/** Writes a status on all resources of a group that are not done. */
export async function noteOpen(
  db: Db,
  group: PhaseGroup,
  { status, reason, message }: Pick<Outcome, 'status' | 'reason' | 'message'>,
  now: Date,
): Promise<void> {
  const update = ofGroup(db, group)
    .set({ status, reason, message, changed_at: now })
    .where('status', 'in', OPEN)
    .returning(TOLD);
  await updateNoting(db, group.context, beforeOf(db, group), update);
}

/** Gives up all resources of an AppContext that are not done. */
export async function failOpen(trx: Db, context: string, reason: string, now: Date): Promise<void> {
  const update = trx
    .updateTable('context_resources')
    .set({ status: 'Failed', reason, message: null, changed_at: now })
    .where('context', '=', context)
    .where('status', 'in', OPEN)
    .returning(TOLD);
  await updateNoting(trx, context, resourcesBefore(trx, context), update);
}

/** Rows of a group as they are before they are written. */
function beforeOf(db: Db, { context, app, provider, cluster }: GroupKey) {
  return resourcesBefore(db, context)
    .where('app', '=', app)
    .where('provider', '=', provider)
    .where('cluster', '=', cluster);
}

function ofGroup(db: Db, { context, app, provider, cluster, phase }: PhaseGroup, { evenStopped = true } = {}) {
  return db
    .updateTable('context_resources')
    .where(({ exists, selectFrom }) => {
      const wanted = selectFrom('deployment_contexts')
        .select('id')
        .where('id', '=', context)
        .where('wanted', '=', phase);
      return exists(evenStopped ? wanted : wanted.where('is_stopped', '=', false));
    })
    .where('context', '=', context)
    .where('app', '=', app)
    .where('provider', '=', provider)
    .where('cluster', '=', cluster);
}
