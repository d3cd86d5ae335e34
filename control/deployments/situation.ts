/** How a deployment intent group, a logical cloud or the network intents of a cluster stand, for the rules of its life cycle. */
import { type ContextState, isEnded } from '../../domain/deployments/context-state.ts';
import {
  currentInstance,
  currentState,
  type GroupState,
  type OwnerState,
  type StateAction,
} from '../../domain/deployments/history.ts';
import type { Situation } from '../../domain/deployments/lifecycle.ts';
import type { Db } from '../../store/connection/database.ts';
import { listContextStates } from '../../store/deployments/contexts.ts';
import { listActions } from '../../store/deployments/histories.ts';

export interface Standing<State extends OwnerState = GroupState> extends Situation<State> {
  actions: readonly StateAction<State>[];
  /** AppContext of the last entry; null where it has none. */
  instance: string | null;
  contexts: ReadonlyMap<string, ContextState>;
}

/** Returns how a record stands. */
export async function standingOf<State extends OwnerState = GroupState>(
  db: Db,
  owner: string,
): Promise<Standing<State>> {
  const actions = await listActions<State>(db, owner);
  const contexts = await listContextStates(db, owner);
  const instance = currentInstance(actions);
  const state = currentState(actions);
  return {
    ...{ actions, instance, contexts },
    // Every history begins with the record itself.
    state: state === 'Undefined' ? ('Created' as State) : state,
    context: instance === null ? null : (contexts.get(instance) ?? null),
    isBusy: [...contexts.values()].some((context) => !isEnded(context)),
  };
}
