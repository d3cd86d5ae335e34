/** States of an AppContext: how far the work got that a controlling object asked for. */

export const CONTEXT_STATES = [
  'Instantiating',
  'Instantiated',
  'InstantiateFailed',
  'PreTerminate',
  'Terminating',
  'Terminated',
  'TerminateFailed',
] as const;
export type ContextState = (typeof CONTEXT_STATES)[number];

/** What the engine is to do with an AppContext. */
export type Phase = 'apply' | 'delete';

/** The only changes there are. Hand-over of an update and resume are not built. */
const CHANGES: Readonly<Record<ContextState, readonly ContextState[]>> = {
  Instantiating: ['Instantiated', 'InstantiateFailed', 'PreTerminate'],
  PreTerminate: ['Terminating'],
  Instantiated: ['Terminating'],
  InstantiateFailed: ['Terminating'],
  Terminating: ['Terminated', 'TerminateFailed'],
  TerminateFailed: ['Terminating'],
  Terminated: [],
};

/** Whether a state may follow another. */
export function isContextChange(from: ContextState, to: ContextState): boolean {
  return CHANGES[from].includes(to);
}

/** Returns the new state. Throws where the change is not in the table: that is a fault of Muster. */
export function changeContext(from: ContextState, to: ContextState): ContextState {
  if (isContextChange(from, to)) return to;
  throw new Error(`an AppContext does not go from ${from} to ${to}`);
}

/** Whether nothing of an AppContext is left in a cluster, or nothing more is tried: another may begin. */
export function isEnded(state: ContextState): boolean {
  return state === 'Terminated' || state === 'TerminateFailed';
}

/** Whether a phase is at work. */
export function isAtWork(state: ContextState): boolean {
  return state === 'Instantiating' || state === 'PreTerminate' || state === 'Terminating';
}

/** Returns the state after a phase whose groups have all ended. */
export function stateAfter(phase: Phase, wentWell: boolean): ContextState {
  if (phase === 'apply') return wentWell ? 'Instantiated' : 'InstantiateFailed';
  return wentWell ? 'Terminated' : 'TerminateFailed';
}

/** Returns the state that a terminate leads to at once. Throws where nothing can be terminated. */
export function stateOfTerminate(from: ContextState): ContextState {
  return changeContext(from, from === 'Instantiating' ? 'PreTerminate' : 'Terminating');
}
