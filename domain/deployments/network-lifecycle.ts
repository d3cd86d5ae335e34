/** What a life-cycle call does in each state of a cluster's network intents. */
import { musterError } from '../errors.ts';
import { type ContextState, isEnded } from './context-state.ts';
import type { NetworkState } from './history.ts';
import { accepted, type Situation, type Step } from './lifecycle.ts';

export type NetworkCall = 'apply' | 'terminate' | 'stop' | 'delete';

const AT_WORK: Partial<Record<NetworkState, { while: ContextState; stopped: NetworkState }>> = {
  Applied: { while: 'Instantiating', stopped: 'InstantiateStopped' },
  Terminated: { while: 'Terminating', stopped: 'TerminateStopped' },
};

/**
 * Returns what a call does to the network intents of a cluster, or to the cluster itself (`delete`).
 * Throws `invalid_state`, and `context_busy` while former work goes on.
 */
export function stepOfNetworks(call: NetworkCall, situation: Situation<NetworkState>): Step<NetworkState> {
  const { state, isBusy } = situation;
  const isApplied = state === 'Applied' || state === 'InstantiateStopped';
  switch (call) {
    case 'apply':
      return isApplied ? 'nothing' : accepted({ state: 'Applied', instance: 'new' }, isBusy);
    case 'terminate':
      if (state === 'Created') throw refusal('There is nothing to end: its network intents are not applied');
      return isApplied ? { state: 'Terminated', instance: 'same' } : 'nothing';
    case 'stop':
      return stop(situation);
    case 'delete':
      if (isApplied) throw refusal('Its network intents are applied: terminate first');
      return accepted<NetworkState>('delete', isBusy);
  }
}

function stop({ state, context }: Situation<NetworkState>): Step<NetworkState> {
  const cell = AT_WORK[state];
  const isAtWork = context === cell?.while || (state === 'Terminated' && context === 'PreTerminate');
  if (cell === undefined || context === null || !isAtWork) {
    throw refusal(`Nothing is left to stop: it is ${state}`);
  }
  return { state: cell.stopped, instance: 'same' };
}

/** Throws `invalid_state` or `context_busy` where a network intent may not be created or changed (`create`) or deleted. */
export function checkNetworkChange(
  change: 'create' | 'delete',
  { state, context, isBusy }: Situation<NetworkState>,
): void {
  const isOpen = state === 'Created' || state === 'Terminated' || (change === 'delete' && state === 'TerminateStopped');
  if (!isOpen) throw refusal(`Network intents cannot be changed while they are ${state}: terminate first`);
  accepted<NetworkState>('delete', isBusy || (context !== null && !isEnded(context)));
}

function refusal(detail: string) {
  return musterError('invalid_state', detail);
}
