/** States of resources, and the action that an edit asks for. */

export const RESOURCE_STATES = ['created', 'updated', 'operational', 'error', 'removed'] as const;
export type ResourceState = (typeof RESOURCE_STATES)[number];

/** A committed record is there and does not say that the resource was removed. */
export const COMMITTED_STATES = ['operational', 'removed'] as const;
export type CommittedState = (typeof COMMITTED_STATES)[number];

/** `error`: an action of the item failed; the item stays staged, so that a retry can commit it. */
export const ITEM_STATES = ['staged', 'error'] as const;
export type ItemState = (typeof ITEM_STATES)[number];

/** Actions that staging picks by itself. */
export const CANONICAL_ACTIONS = ['run', 'update', 'remove'] as const;

/** Returns the state of a resource after an edit of its inputs or of its connections. */
export function stateAfterEdit(state: ResourceState): ResourceState {
  return state === 'operational' || state === 'error' ? 'updated' : state;
}

/** Returns the action that an edit stages: `run` until it was committed for the first time. */
export function actionOfEdit(committed: CommittedState | null): 'run' | 'update' {
  return committed === 'operational' ? 'update' : 'run';
}

/** Whether an item is taken back to nothing by a removal: what it asks for is of no use for a resource that goes. */
export function isDroppedByRemoval(action: string): boolean {
  return action === 'run' || action === 'update';
}

export type Discard = 'delete resource' | 'restore committed' | 'restore state' | 'drop item';

/** Returns what discarding an item does to its resource. */
export function discardOf(action: string, committed: CommittedState | null): Discard {
  if (action === 'remove') return 'restore state';
  if (action !== 'run' && action !== 'update') return 'drop item';
  // A `run` of a resource that was committed was asked for by name: it is no creation.
  if (committed === 'operational') return 'restore committed';
  return action === 'run' ? 'delete resource' : 'drop item';
}
