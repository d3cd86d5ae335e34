/** What a life-cycle call does in each state of a deployment intent group. */
import { type ErrorCode, musterError } from '../errors.ts';
import { type ContextState, isEnded } from './context-state.ts';
import type { GroupState, NetworkState } from './history.ts';

export type GroupCall = 'approve' | 'instantiate' | 'terminate' | 'stop' | 'delete';

/** What is known of the object when a call comes. */
export interface Situation<State> {
  state: State;
  /** State of the AppContext of the last entry; null where the entry has none. */
  context: ContextState | null;
  /** Whether any AppContext of the object has not ended. */
  isBusy: boolean;
}

/** What an accepted call does. `nothing`: the call is accepted and changes nothing. */
export type Step<State> = { state: State; instance: 'none' | 'new' | 'same' } | 'delete' | 'nothing';

interface Refusal {
  refused: ErrorCode;
  detail: string;
}

const refuse = (detail: string, refused: ErrorCode = 'invalid_state'): Refusal => ({ refused, detail });
const NEVER_RAN = refuse('There is nothing to end: it is not instantiated');
const RUNS = refuse('It is instantiated: terminate first');
const AGAIN = { state: 'Terminated', instance: 'same' } as const;

type Cell = (situation: Situation<GroupState>) => Step<GroupState> | Refusal;
const always =
  (answer: Step<GroupState> | Refusal): Cell =>
  () =>
    answer;

/** A stop is of use only while the phase is at work. */
const stopWhile =
  (states: readonly ContextState[], state: GroupState): Cell =>
  ({ context }) =>
    context !== null && states.includes(context)
      ? { state, instance: 'same' }
      : refuse(`Nothing is left to stop: the AppContext is ${context ?? 'not there'}`);

/** Termination may be tried again once it has failed. */
const terminateAgain: Cell = ({ context }) => {
  if (context === 'TerminateFailed') return AGAIN;
  if (context === null || isEnded(context)) return refuse('It is terminated already');
  return refuse('It is terminating already', 'context_busy');
};

const create = always({ state: 'Instantiated', instance: 'new' });
const approve = always({ state: 'Approved', instance: 'none' });
const remove = always('delete');

const TABLE: Readonly<Record<GroupState, Readonly<Record<GroupCall, Cell>>>> = {
  Created: {
    approve,
    instantiate: always(refuse('must be approved first: it is Created')),
    terminate: always(NEVER_RAN),
    stop: always(NEVER_RAN),
    delete: remove,
  },
  Approved: {
    approve: always('nothing'),
    instantiate: create,
    terminate: always(NEVER_RAN),
    stop: always(NEVER_RAN),
    delete: remove,
  },
  Instantiated: {
    approve: always(RUNS),
    instantiate: always(refuse('It is already instantiated')),
    terminate: always(AGAIN),
    stop: stopWhile(['Instantiating'], 'InstantiateStopped'),
    delete: always(RUNS),
  },
  InstantiateStopped: {
    approve: always(RUNS),
    instantiate: always(refuse('It is instantiated and stopped: terminate first')),
    terminate: always(AGAIN),
    stop: always(refuse('It is stopped already')),
    delete: always(RUNS),
  },
  Terminated: {
    approve,
    instantiate: create,
    terminate: ({ context, ...rest }) =>
      context === null || context === 'Terminated' || context === 'TerminateFailed'
        ? terminateAgain({ context, ...rest })
        : refuse('It is terminating already'),
    stop: stopWhile(['PreTerminate', 'Terminating'], 'TerminateStopped'),
    delete: remove,
  },
  TerminateStopped: {
    approve: always(refuse('Its termination was stopped: instantiate it or terminate it again')),
    instantiate: create,
    terminate: terminateAgain,
    stop: always(refuse('It is stopped already')),
    delete: remove,
  },
};

/** Calls that wait until every AppContext of the object has ended. */
const AFTER_ALL: readonly GroupCall[] = ['approve', 'instantiate', 'delete'];

/**
 * Returns what a call does to a deployment intent group.
 * Throws `invalid_state`, and `context_busy` while former work goes on.
 */
export function stepOfGroup(call: GroupCall, situation: Situation<GroupState>): Step<GroupState> {
  const answer = TABLE[situation.state][call](situation);
  return accepted(answer, AFTER_ALL.includes(call) && situation.isBusy);
}

/** Returns the answer of a cell. Throws its refusal, and `context_busy` where the call has to wait. */
export function accepted<State extends GroupState | NetworkState>(
  answer: Step<State> | Refusal,
  mustWait: boolean,
): Step<State> {
  if (typeof answer === 'object' && 'refused' in answer) throw musterError(answer.refused, answer.detail);
  if (mustWait && answer !== 'nothing') {
    throw musterError(
      'context_busy',
      'An AppContext of it has not ended: wait for the end of its termination, or stop it',
    );
  }
  return answer;
}

/**
 * Returns whether a change of an intent sets the group back to Created.
 * Throws `invalid_state` while the group is instantiated, and `context_busy` while former work goes on.
 */
export function changeOfIntent({ state, isBusy }: Pick<Situation<GroupState>, 'state' | 'isBusy'>): boolean {
  if (state === 'Instantiated' || state === 'InstantiateStopped') {
    throw musterError('invalid_state', `Its intents cannot be changed while it is ${state}: terminate first`);
  }
  accepted<GroupState>({ state: 'Created', instance: 'none' }, isBusy);
  return state !== 'Created';
}
