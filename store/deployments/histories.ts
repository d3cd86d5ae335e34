/** Histories of states: they only grow, and the last entry is the current state. */
import type { GroupState, StateAction } from '../../domain/deployments/history.ts';
import type { Db } from '../connection/database.ts';
import { noteAction } from './context-events.ts';

/** Returns the history of a record, oldest first. */
export async function listActions(db: Db, owner: string): Promise<(StateAction<GroupState> & { revision: number })[]> {
  const rows = await db
    .selectFrom('deployment_actions')
    .select(['state', 'instance', 'time', 'revision'])
    .where('owner', '=', owner)
    .orderBy('number')
    .execute();
  return rows.map(({ time, ...row }) => ({ ...row, time: time.toISOString() }));
}

export interface NewAction {
  owner: string;
  state: GroupState;
  /** Empty where the action has none. */
  instance: string;
}

/** Adds an entry to a history whose record is held. A new instance counts the revision up. */
export async function appendAction(
  trx: Db,
  { owner, state, instance }: NewAction,
  { actor, now }: { actor: string | null; now: Date },
): Promise<void> {
  const former = await listActions(trx, owner);
  const revision = former.at(-1)?.revision ?? 0;
  const isNew = instance !== '' && former.every((action) => action.instance !== instance);
  await trx
    .insertInto('deployment_actions')
    .values({
      ...{ owner, state, instance, actor, time: now },
      ...{ number: former.length, revision: isNew ? revision + 1 : revision },
    })
    .execute();
  if (instance !== '') await noteAction(trx, instance, state, now);
}
