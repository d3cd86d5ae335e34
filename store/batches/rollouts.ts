/** Rollouts and where they are. */
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { RolloutPosition, RolloutState } from '../../domain/batches/rollout.ts';
import type { RolloutCounts } from '../../domain/batches/rollout-counts.ts';
import type { RolloutPolicy } from '../../domain/configurations/schema.ts';
import type { Db } from '../connection/database.ts';
import type { RolloutsTable } from './tables.ts';

export type RolloutRow = Selectable<RolloutsTable>;

/** A rollout with the policy of its configuration; null when that has none any more, or is not this one's any more. */
export interface ShownRollout extends RolloutRow {
  policy: RolloutPolicy | null;
}

const POLICY = sql<RolloutPolicy>`record -> 'muster' -> 'rollout'`;

/** The policies of all configurations that have one, or of these, by name. */
export async function rolloutPolicies(db: Db, only?: string): Promise<Map<string, RolloutPolicy>> {
  const rows = await db
    .selectFrom('configurations')
    .select(['name', POLICY.as('policy')])
    .where(sql<boolean>`record -> 'muster' ? 'rollout'`)
    .$if(only !== undefined, (query) => query.where('name', '=', only ?? ''))
    .execute();
  return new Map(rows.map(({ name, policy }) => [name, policy]));
}

/** The rollouts that are current. */
export async function currentRollouts(db: Db): Promise<RolloutRow[]> {
  return db.selectFrom('rollouts').selectAll().where('is_current', '=', true).orderBy('configuration').execute();
}

/** The current rollout of a configuration, locked until the transaction ends, or null. */
export async function lockRollout(trx: Db, configuration: string): Promise<RolloutRow | null> {
  const query = trx.selectFrom('rollouts').selectAll().where('is_current', '=', true);
  return (await query.where('configuration', '=', configuration).forUpdate().executeTakeFirst()) ?? null;
}

/** Begins a rollout of a configuration that has no current one. */
export async function insertRollout(
  trx: Db,
  rollout: { configuration: string; version: string; position: RolloutPosition; components: number; pending: number },
  now: Date,
): Promise<void> {
  const { configuration, version, position, components, pending } = rollout;
  await trx
    .insertInto('rollouts')
    .values({ configuration, version, ...position, components, pending, created_at: now, updated_at: now })
    .execute();
}

export interface RolloutLook extends Omit<RolloutCounts, 'trying' | 'failed' | 'inSessions' | 'canaries'> {
  /** Components whose tries are used up. */
  failed: number;
  in_sessions: number;
  tries_failed: number;
}

/** Writes what a look found; `ended_at` stays the time at which it became done. */
export async function writeLook(
  trx: Db,
  id: number,
  position: RolloutPosition,
  look: RolloutLook,
  now: Date,
): Promise<void> {
  const ended_at = sql<Date | null>`case when ${position.state}::text = 'done' then coalesce(ended_at, ${now}::timestamptz) end`;
  await trx
    .updateTable('rollouts')
    .set({ ...position, ...look, updated_at: now, ended_at })
    .where('id', '=', id)
    .execute();
}

/** Ends a rollout that is not current any more; what it knows of single components is forgotten. */
export async function replaceRollout(trx: Db, row: RolloutRow, reason: string, now: Date): Promise<void> {
  const isDone = row.state === 'done';
  await trx
    .updateTable('rollouts')
    .set({
      is_current: false,
      updated_at: now,
      ended_at: isDone ? row.ended_at : now,
      ...(isDone ? {} : { state: 'replaced' as const, reason }),
    })
    .where('id', '=', row.id)
    .execute();
  await trx.deleteFrom('rollout_members').where('rollout_id', '=', row.id).execute();
}

/** Marks a rollout as stopped. `control/batches/stop-rollout.ts` is the only caller. */
export async function markStopped(trx: Db, id: number, reason: string, actor: string | null, now: Date): Promise<void> {
  await trx
    .updateTable('rollouts')
    .set({ state: 'stopped', reason, stopped_at: now, stopped_by: actor, updated_at: now, ended_at: null })
    .where('id', '=', id)
    .execute();
}

/** Lets a stopped rollout go on; the failures so far are forgiven. */
export async function markResumed(
  trx: Db,
  id: number,
  position: RolloutPosition,
  actor: string | null,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('rollouts')
    .set({ ...position, tries_failed: 0, resumed_at: now, resumed_by: actor, updated_at: now })
    .where('id', '=', id)
    .execute();
  await trx
    .updateTable('rollout_members')
    .set({ forgiven: true })
    .where('rollout_id', '=', id)
    .where('outcome', '=', 'failed')
    .execute();
}

/** Forgets rollouts that are not current and ended before a time. */
export async function forgetRollouts(db: Db, endedBefore: Date): Promise<void> {
  await db.deleteFrom('rollouts').where('is_current', '=', false).where('ended_at', '<', endedBefore).execute();
}

export interface RolloutPage {
  configuration: string | undefined;
  state: RolloutState | undefined;
  /** Only current ones. */
  current: boolean;
  /** Only older ones than this. */
  before: number | null;
  limit: number;
}

/** At most `limit` rollouts, newest first. */
export async function pageRollouts(db: Db, page: RolloutPage): Promise<ShownRollout[]> {
  const conditions = [
    sql`true`,
    ...(page.configuration === undefined ? [] : [sql`r.configuration = ${page.configuration}`]),
    ...(page.state === undefined ? [] : [sql`r.state = ${page.state}`]),
    ...(page.current ? [sql`r.is_current`] : []),
    ...(page.before === null ? [] : [sql`r.id < ${page.before}`]),
  ];
  return shown(db, sql`where ${sql.join(conditions, sql` and `)} order by r.id desc limit ${page.limit}`);
}

/** The current rollout of a configuration, or null. */
export async function findRollout(db: Db, configuration: string): Promise<ShownRollout | null> {
  return (await shown(db, sql`where r.is_current and r.configuration = ${configuration}`))[0] ?? null;
}

async function shown(db: Db, rest: RawBuilder<unknown>): Promise<ShownRollout[]> {
  const { rows } = await sql<ShownRollout>`
    select r.*, case when r.is_current then ${POLICY} end as policy
    from rollouts r left join configurations on configurations.name = r.configuration ${rest}`.execute(db);
  return rows;
}
