/** `created`: on record; `started`: something of it was heard; `ended`: its exit status is known; `lost`: that will never be known. */
export const RUN_STATES = ['created', 'started', 'ended', 'lost'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** States of a run whose end is not on record. */
export const OPEN_RUN_STATES = ['created', 'started'] as const satisfies readonly RunState[];

/** States of a run whose end is on record. */
export type RunEndState = Exclude<RunState, (typeof OPEN_RUN_STATES)[number]>;

/** Returns whether the end of a run is on record. */
export function isRunOver(state: RunState): state is RunEndState {
  return state === 'ended' || state === 'lost';
}
