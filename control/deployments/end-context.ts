/** Terminates and stops AppContexts whose records are held. */
import {
  type ContextState,
  changeContext,
  isAtWork,
  stateAfter,
  stateOfTerminate,
} from '../../domain/deployments/context-state.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  beginDeletion,
  type ContextRow,
  countSent,
  countStatuses,
  holdContext,
  writeContext,
} from '../../store/deployments/contexts.ts';
import { tellEnd } from './tell-others.ts';

/**
 * Has an AppContext deleted. While it is still being applied, the calls in flight end first. An AppContext of which nothing can be in a cluster is
 * terminated at once. Returns its state.
 */
export async function terminateContext(trx: Db, id: string, now: Date): Promise<ContextState> {
  const context = await holdContext(trx, id);
  if (context === null) throw musterError('not_found', `AppContext '${id}' could not be found`);
  const state = stateOfTerminate(context.state);
  if (state === 'PreTerminate') {
    await writeContext(trx, id, { state, wanted: 'delete', isStopped: false }, now);
    return state;
  }
  await beginDeletion(trx, id, now);
  const { Pending } = await countStatuses(trx, id);
  if ((Pending ?? 0) > 0) {
    await writeContext(trx, id, { state, wanted: 'delete', isStopped: false }, now);
    return state;
  }
  const ended = changeContext(state, stateAfter('delete', true));
  await writeContext(trx, id, { state: ended, wanted: null, isStopped: false }, now);
  await tellEnd(trx, context, ended);
  return ended;
}

/** Has the phase of an AppContext given up. Throws `invalid_state` where nothing of it is left to do. */
export async function stopContext(trx: Db, id: string, now: Date): Promise<void> {
  const context = await holdContext(trx, id);
  if (context === null || !isAtWork(context.state) || (await countLeft(trx, context)) === 0) {
    throw musterError('invalid_state', 'Nothing is left to stop: every resource is done');
  }
  await writeContext(trx, id, { state: context.state, wanted: context.wanted, isStopped: true }, now);
}

/** Returns how many resources are left to do. Behind a terminate it is everything that was sent, although the deletion has not begun. */
async function countLeft(trx: Db, { id, state }: ContextRow): Promise<number> {
  if (state === 'PreTerminate') return await countSent(trx, id);
  const { Pending, Retrying } = await countStatuses(trx, id);
  return (Pending ?? 0) + (Retrying ?? 0);
}
