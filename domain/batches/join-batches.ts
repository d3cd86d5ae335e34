/** A component that is enabled, pending and in no batch. */
export interface Candidate {
  id: string;
  configuration: string;
  /** Comma list of the pending layers. */
  layers: string;
  key: string;
}

/** A batch that is not sent yet. `openedAt` in milliseconds. */
export interface UnsentBatch {
  id: string;
  key: string;
  configuration: string;
  layers: string;
  members: number;
  openedAt: number;
}

/** How a configuration's components are collected. */
export interface CollectLimits {
  /** Most components of one batch; a batch is full at this size. */
  size: number;
  /** Most components in all its unsent batches together, or null without such a limit: the rest stays where it is. */
  most: number | null;
}

export interface JoinRules {
  now: number;
  limitsOf: (configuration: string) => CollectLimits;
  newId: () => string;
}

export interface JoinedPage {
  /** New batches with the members of this page. */
  opened: UnsentBatch[];
  joined: { component: string; batch: string }[];
}

/**
 * Collects page by page: the answered function puts each candidate of a page into the first unsent batch of its key with room,
 * else into a new one whose window starts now (cfs-flows 5.2). It remembers what earlier pages filled, so the pages of one pass go
 * through the same one; what it holds goes with the number of keys and configurations, not with that of components.
 */
export function joinBatches(
  unsent: readonly UnsentBatch[],
  rules: JoinRules,
): (page: readonly Candidate[]) => JoinedPage {
  const rooms = new Map<string, Room[]>();
  const collected = new Map<string, number>();
  const limits = new Map<string, CollectLimits>();
  const limitsOf = (configuration: string): CollectLimits => {
    const known = limits.get(configuration) ?? rules.limitsOf(configuration);
    limits.set(configuration, known);
    return known;
  };
  for (const batch of [...unsent].sort(olderFirst)) {
    collected.set(batch.configuration, (collected.get(batch.configuration) ?? 0) + batch.members);
    const free = limitsOf(batch.configuration).size - batch.members;
    if (free > 0) addRoom(rooms, batch.key, { batch: batch.id, free });
  }
  return (page) => {
    const opened = new Map<string, UnsentBatch>();
    const joined: JoinedPage['joined'] = [];
    for (const candidate of page) {
      const { size, most } = limitsOf(candidate.configuration);
      const already = collected.get(candidate.configuration) ?? 0;
      if (size < 1 || (most !== null && already >= most)) continue;
      collected.set(candidate.configuration, already + 1);
      let room = rooms.get(candidate.key)?.[0];
      if (room === undefined) {
        room = { batch: rules.newId(), free: size };
        addRoom(rooms, candidate.key, room);
        const { key, configuration, layers } = candidate;
        opened.set(room.batch, { id: room.batch, key, configuration, layers, members: 0, openedAt: rules.now });
      }
      room.free -= 1;
      if (room.free === 0) rooms.get(candidate.key)?.shift();
      const fresh = opened.get(room.batch);
      if (fresh !== undefined) fresh.members += 1;
      joined.push({ component: candidate.id, batch: room.batch });
    }
    return { opened: [...opened.values()], joined };
  };
}

interface Room {
  batch: string;
  free: number;
}

function addRoom(rooms: Map<string, Room[]>, key: string, room: Room): void {
  const ofKey = rooms.get(key);
  if (ofKey === undefined) rooms.set(key, [room]);
  else ofKey.push(room);
}

/** The order in which batches are filled and sent. */
export function olderFirst(a: Pick<UnsentBatch, 'id' | 'openedAt'>, b: Pick<UnsentBatch, 'id' | 'openedAt'>): number {
  return a.openedAt - b.openedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
