/** What is staged: how each item differs from what was committed, and which receivers of the staged resources differ as well. */
import { type DiffEntry, diffOf } from './diff.ts';
import { actionOfEdit, type CommittedState, type ResourceState } from './item-state.ts';

/** Emitter, its input, receiver, its address. */
export type ConnectionTuple = readonly [string, string, string, string];

/** What is known of a resource now. */
export interface CurrentResource {
  name: string;
  state: ResourceState;
  /** Values of all inputs, along their connections. */
  resolved: Readonly<Record<string, unknown>>;
  connections: readonly ConnectionTuple[];
  tags: readonly string[];
  base_path: string;
}

/** What the machine is believed to have. */
export interface CommittedResource {
  inputs: Readonly<Record<string, unknown>>;
  connections: readonly ConnectionTuple[];
  tags: readonly string[];
  base_path: string;
  state: CommittedState;
}

/** A staged item as far as staging reads it. */
export interface StagedItem {
  uid: string;
  resource: string;
  action: string;
  /** A user asked for this very action. */
  explicit: boolean;
  /** The open plan that has it, or null. */
  plan: string | null;
}

export interface ItemDiff {
  diff: DiffEntry[];
  connections_diff: DiffEntry[];
}

/** Returns the difference between what was committed and what is there now; a resource that is marked removed is empty. */
export function itemDiff(current: CurrentResource, committed: CommittedResource | undefined): ItemDiff {
  const from = committed?.state === 'operational' ? committed : null;
  const to = current.state === 'removed' ? null : current;
  return {
    diff: diffOf(from?.inputs ?? {}, to?.resolved ?? {}),
    connections_diff: diffOf(sortedTuples(from?.connections), sortedTuples(to?.connections)),
  };
}

function sortedTuples(tuples: readonly ConnectionTuple[] = []): ConnectionTuple[] {
  return [...tuples].sort((a, b) => {
    const at = a.findIndex((text, index) => text !== b[index]);
    return at < 0 ? 0 : String(a[at]) < String(b[at]) ? -1 : 1;
  });
}

export interface StagingInput {
  items: readonly StagedItem[];
  /** Transitive receivers of the staged resources, in their order; the staged ones may be among them. */
  receivers: readonly string[];
  current(name: string): CurrentResource | undefined;
  committed(name: string): CommittedResource | undefined;
}

export interface Staging {
  /** Items that stay, with their differences of now. */
  kept: (ItemDiff & { uid: string })[];
  /** Items without any difference, which nobody asked for. */
  dropped: string[];
  /** Items for receivers that differ from what was committed. */
  added: (ItemDiff & { resource: string; action: 'run' | 'update' })[];
}

/**
 * Works out the differences of all staged items and adds their dependants. An item that was made by itself and has no difference is
 * dropped, but for `run`. An item in an open plan stays as it is.
 *
 * Returns what is to be written. Without an edit in between a second call leaves the same items.
 */
export function stageItems({ items, receivers, current, committed }: StagingInput): Staging {
  const staging: Staging = { kept: [], dropped: [], added: [] };
  const staged = new Set(items.map(({ resource }) => resource));
  for (const item of items) {
    const resource = current(item.resource);
    if (item.plan !== null || resource === undefined) continue;
    const difference = itemDiff(resource, committed(item.resource));
    if (isAutomatic(item) && isEmpty(difference)) staging.dropped.push(item.uid);
    else staging.kept.push({ uid: item.uid, ...difference });
  }
  for (const name of new Set(receivers)) {
    const resource = current(name);
    if (staged.has(name) || resource === undefined || resource.state === 'removed') continue;
    const record = committed(name);
    const difference = itemDiff(resource, record);
    if (isEmpty(difference)) continue;
    staging.added.push({ resource: name, action: actionOfEdit(record?.state ?? null), ...difference });
  }
  return staging;
}

/** A removal and a first `run` are kept without a difference: they are what the user did. */
function isAutomatic({ action, explicit }: StagedItem): boolean {
  return !explicit && action !== 'run' && action !== 'remove';
}

function isEmpty({ diff, connections_diff }: ItemDiff): boolean {
  return diff.length === 0 && connections_diff.length === 0;
}
