/** Plans: their states, what users have asked of them, what became of them. */
import { type Insertable, sql, type Updateable } from 'kysely';
import {
  OPEN_PLAN_STATES,
  type PlanCommand,
  type PlanState,
  type PlanWish,
} from '../../domain/propagation/plan-states.ts';
import type { Db } from '../connection/database.ts';
import type { DrivenPlan, PlanRow, PlansTable } from './plan-tables.ts';

export async function insertPlan(trx: Db, row: Insertable<PlansTable>): Promise<void> {
  await trx.insertInto('propagation_plans').values(row).execute();
}

export async function findPlan(db: Db, id: string): Promise<PlanRow | null> {
  return (await db.selectFrom('propagation_plans').selectAll().where('id', '=', id).executeTakeFirst()) ?? null;
}

/** What a step reads of a plan each time: nothing that grows with the graph. */
const DRIVEN = [
  ...(['id', 'place', 'name', 'state', 'wish', 'command', 'commands', 'commanded_at', 'heard', 'run_number'] as const),
  ...(['items_limit', 'type_limits', 'counts', 'recovered', 'unsettled', 'follow_up'] as const),
  ...(['waits_for', 'waits_since', 'waits_told', 'created_at', 'started_at', 'ended_at', 'actor'] as const),
] as const;

/** Returns the plan, locked against every other writer until the transaction ends. */
export async function lockPlan(trx: Db, id: string): Promise<DrivenPlan | null> {
  const query = trx.selectFrom('propagation_plans').select(DRIVEN).where('id', '=', id).forUpdate();
  return (await query.executeTakeFirst()) ?? null;
}

export async function updatePlan(trx: Db, id: string, change: Updateable<PlansTable>): Promise<void> {
  await trx.updateTable('propagation_plans').set(change).where('id', '=', id).execute();
}

export interface Commanded {
  command: PlanCommand;
  state?: PlanState | undefined;
  wish?: PlanWish | null | undefined;
  /** A further run of the workflow. */
  starts: boolean;
}

/** Writes down what a user asks of a plan, for its driver to hear. */
export async function commandPlan(
  trx: Db,
  id: string,
  { command, state, wish, starts }: Commanded,
  now: Date,
  actor: string | null,
): Promise<void> {
  await trx
    .updateTable('propagation_plans')
    .set({
      command,
      commands: sql`commands + 1`,
      commanded_at: now,
      heard: false,
      actor,
      ...(state === undefined ? {} : { state }),
      ...(wish === undefined ? {} : { wish }),
      ...(starts ? { run_number: sql<number>`run_number + 1`, started_at: now, ended_at: null } : {}),
    })
    .where('id', '=', id)
    .execute();
}

/** Pauses every plan that is running, as a command of this moment. Returns their ids. */
export async function pauseRunning(trx: Db, at: Date, actor: string | null): Promise<string[]> {
  return commandAll(trx, 'running', null, { command: 'pause', state: 'paused', starts: false }, at, actor);
}

/** Lets the plans go on whose last command is a pause of one of these moments. Returns their ids. */
export async function unpausePausedAt(
  trx: Db,
  moments: readonly Date[],
  now: Date,
  actor: string | null,
): Promise<string[]> {
  return commandAll(trx, 'paused', moments, { command: 'unpause', state: 'running', starts: false }, now, actor);
}

/** Plans are locked in the order of their ids; `pausedAt`: only those whose last command is a pause of one of these moments. */
async function commandAll(
  trx: Db,
  state: PlanState,
  pausedAt: readonly Date[] | null,
  commanded: Commanded,
  now: Date,
  actor: string | null,
): Promise<string[]> {
  const meant = await trx
    .selectFrom('propagation_plans')
    .select('id')
    .where('state', '=', state)
    .$if(pausedAt !== null, (query) =>
      query.where('command', '=', 'pause').where('commanded_at', 'in', [...(pausedAt ?? [])]),
    )
    .orderBy('id')
    .forUpdate()
    .execute();
  for (const { id } of meant) await commandPlan(trx, id, commanded, now, actor);
  return meant.map(({ id }) => id);
}

/** Removes a plan with its nodes, items and attempts. */
export async function deletePlan(trx: Db, id: string): Promise<void> {
  await trx.deleteFrom('propagation_plans').where('id', '=', id).execute();
}

/** Plans that are to have a workflow. `unheard`: a command from before this instant that no advance has read. */
export async function listOpenPlans(db: Db, before: Date): Promise<{ id: string; unheard: boolean }[]> {
  return db
    .selectFrom('propagation_plans')
    .select(['id', sql<boolean>`not heard and commanded_at < ${before}`.as('unheard')])
    .where('state', 'in', sql<PlanState>`(${sql.join(OPEN_PLAN_STATES.map((state) => sql.lit(state)))})`)
    .orderBy('id')
    .execute();
}

/** Gives up what a plan has of the staged items: they may be processed and discarded again. */
export async function freeItems(trx: Db, plan: string): Promise<void> {
  await trx.updateTable('propagation_staged_items').set({ plan: null }).where('plan', '=', plan).execute();
}
