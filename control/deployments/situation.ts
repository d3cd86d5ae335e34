/** How a deployment intent group or a logical cloud stands, for the rules of its life cycle. */
import { type ContextState, isEnded } from '../../domain/deployments/context-state.ts';
import { currentInstance, currentState, type GroupState, type StateAction } from '../../domain/deployments/history.ts';
import type { Situation } from '../../domain/deployments/lifecycle.ts';
import type { Db } from '../../store/connection/database.ts';
import { listContextStates } from '../../store/deployments/contexts.ts';
import { listActions } from '../../store/deployments/histories.ts';

export interface Standing extends Situation<GroupState> {
  actions: readonly StateAction<GroupState>[];
  /** AppContext of the last entry; null where it has none. */
  instance: string | null;
  contexts: ReadonlyMap<string, ContextState>;
}

/** Returns how a record stands. */
export async function standingOf(db: Db, owner: string): Promise<Standing> {
  const actions = await listActions(db, owner);
  const contexts = await listContextStates(db, owner);
  const instance = currentInstance(actions);
  const state = currentState(actions);
  return {
    ...{ actions, instance, contexts },
    // Every history begins with the record itself.
    state: state === 'Undefined' ? 'Created' : state,
    context: instance === null ? null : (contexts.get(instance) ?? null),
    isBusy: [...contexts.values()].some((context) => !isEnded(context)),
  };
}
