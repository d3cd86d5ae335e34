/** Histories of states: they only grow, and the last entry is the current state. */
import type { GroupState, OwnerState, StateAction } from '../../domain/deployments/history.ts';
import type { Db } from '../connection/database.ts';
import { noteAction } from './context-events.ts';

/** Returns the history of a record, oldest first. */
export async function listActions<State extends OwnerState = GroupState>(
  db: Db,
  owner: string,
): Promise<(StateAction<State> & { revision: number })[]> {
  const rows = await db
    .selectFrom('deployment_actions')
    .select(['state', 'instance', 'time', 'revision'])
    .where('owner', '=', owner)
    .orderBy('number')
    .execute();
  // A history has the states of its kind of record alone.
  return rows.map(({ time, state, ...row }) => ({ ...row, state: state as State, time: time.toISOString() }));
}

/** Returns the last entry that an earlier try of the same work has made; null: it has made none. */
export async function findActionOf<State extends OwnerState = GroupState>(
  db: Db,
  owner: string,
  operation: string | null,
): Promise<{ state: State; instance: string } | null> {
  if (operation === null) return null;
  const row = await db
    .selectFrom('deployment_actions')
    .select(['state', 'instance'])
    .where('owner', '=', owner)
    .where('operation', '=', operation)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { state: row.state as State, instance: row.instance };
}

export interface NewAction {
  owner: string;
  state: OwnerState;
  /** Empty where the action has none. */
  instance: string;
}

/** Adds an entry to a history whose record is held. A new instance counts the revision up. */
export async function appendAction(
  trx: Db,
  { owner, state, instance }: NewAction,
  { actor, operation = null, now }: { actor: string | null; operation?: string | null; now: Date },
): Promise<void> {
  const former = await listActions<OwnerState>(trx, owner);
  const revision = former.at(-1)?.revision ?? 0;
  const isNew = instance !== '' && former.every((action) => action.instance !== instance);
  await trx
    .insertInto('deployment_actions')
    .values({
      ...{ owner, state, instance, actor, operation, time: now },
      ...{ number: former.length, revision: isNew ? revision + 1 : revision },
    })
    .execute();
  if (instance !== '') await noteAction(trx, instance, state, now);
}
