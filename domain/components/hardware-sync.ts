/** Which components the nodes of a hardware state manager make (cfs-flows 6.2), and whether the sync is alive. */
import { KEY_MAX } from '../schema.ts';

export const HARDWARE_SYNC_WORKFLOW_ID = 'hardware-sync';
/** The actor of what it writes. */
export const HARDWARE_SYNC_ACTOR = 'hardware-sync';

const NODE_TYPES: ReadonlySet<unknown> = new Set(['Node', 'VirtualNode']);

/** An entry of the hardware manager's list of components, as far as it is looked at. */
export interface HardwareEntry {
  ID?: unknown;
  Type?: unknown;
}

/** Ids of nodes and virtual nodes, each once and sorted; entries without an id are none. `leftOut`: ids that no component can have. */
export function nodeIds(entries: readonly HardwareEntry[]): { ids: string[]; leftOut: number } {
  const found = new Set<string>();
  for (const { ID, Type } of entries) {
    if (typeof ID === 'string' && ID !== '' && NODE_TYPES.has(Type)) found.add(ID);
  }
  const ids = [...found].filter(canBeId).sort();
  return { ids, leftOut: found.size - ids.length };
}

/** Postgres stores neither NUL nor half a surrogate pair; others are as long as the API takes them. */
function canBeId(id: string): boolean {
  return !id.includes('\0') && id.isWellFormed() && [...id].length <= KEY_MAX;
}

/** How the sync stands, as it is stored after each pass. */
export interface HardwareSyncRecord {
  lastPassAt: Date;
  lastSuccessAt: Date | null;
  /** Seconds to the next pass. */
  interval: number;
  /** Why the last pass failed, or null. */
  reason: string | null;
  /** Nodes that the hardware manager named last. */
  found: number;
  /** Components made since the beginning. */
  created: number;
}

/** Seconds beyond the interval after which a sync without a pass is dead (cfs-flows 6.2). */
const DEAD_AFTER = 20;

/** Why the sync is not well, or null when it is: its last pass failed, or there was none for interval + 20 s. */
export function hardwareSyncTrouble({ lastPassAt, interval, reason }: HardwareSyncRecord, now: Date): string | null {
  if (reason !== null) return reason;
  const seconds = Math.floor((now.getTime() - lastPassAt.getTime()) / 1_000);
  return seconds > interval + DEAD_AFTER ? `no pass for ${seconds} s; every ${interval} s there should be one` : null;
}
