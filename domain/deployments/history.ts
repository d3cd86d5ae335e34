/** The state history of a controlling object: append-only; the last entry is the current state. */

/** States of a deployment intent group and of a logical cloud. */
export const GROUP_STATES = [
  'Created',
  'Approved',
  'Instantiated',
  'InstantiateStopped',
  'Terminated',
  'TerminateStopped',
] as const;
export type GroupState = (typeof GROUP_STATES)[number];

/** States of a cluster's network intents. */
export const NETWORK_STATES = ['Created', 'Applied', 'InstantiateStopped', 'Terminated', 'TerminateStopped'] as const;
export type NetworkState = (typeof NETWORK_STATES)[number];

/** State of any record that has a history. */
export type OwnerState = GroupState | NetworkState;

export type ControlState = OwnerState | 'Undefined';

export interface StateAction<State extends string = ControlState> {
  state: State;
  /** Id of the AppContext; empty after Created and Approved. */
  instance: string;
  /** RFC 3339, UTC. */
  time: string;
}

/** Returns the state of the last entry. */
export function currentState<State extends string>(actions: readonly StateAction<State>[]): State | 'Undefined' {
  return actions.at(-1)?.state ?? 'Undefined';
}

/** Returns the AppContext of the last entry; null where it has none. */
export function currentInstance(actions: readonly StateAction<string>[]): string | null {
  return actions.at(-1)?.instance || null;
}

/** Returns the last AppContext that the history names; null where it names none. */
export function latestInstance(actions: readonly StateAction<string>[]): string | null {
  return actions.findLast(({ instance }) => instance !== '')?.instance ?? null;
}

/** Returns every AppContext of a history once, in the order of their begin. */
export function instancesOf(actions: readonly StateAction<string>[]): string[] {
  return [...new Set(actions.map(({ instance }) => instance).filter((instance) => instance !== ''))];
}
