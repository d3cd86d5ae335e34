import { createHash } from 'node:crypto';
import { type GridGroup, gridOrder } from '../../domain/fleet/grid.ts';
import { type FleetGrid, GRID_CELLS_MAX, type Throughput } from '../../domain/fleet/grid-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { countByHour, type GridCells, type GridGrouping, readGridCells } from '../../store/fleet/grid.ts';

/** What was read last: components seldom come and go, and their order takes most of the time. */
interface KnownOrder {
  cells: GridCells;
  version: string;
  groups: GridGroup[];
  places: number[];
  ids: string[];
}

export type FleetGridWhole = Required<FleetGrid>;

/** Returns what reads the grid in one grouping; it remembers the places of the cells. */
export function createGridReader(db: Db, grouping: GridGrouping): () => Promise<FleetGridWhole> {
  let known: KnownOrder | undefined;
  return async () => {
    const cells = await readGridCells(db, grouping);
    if (known === undefined || !hasSameCells(known.cells, cells)) known = orderOf(cells);
    const { version, groups, places, ids } = known;
    const total = ids.length;
    if (total > GRID_CELLS_MAX) return { version, total, groups, ids: [], status: '' };
    const { letters } = cells;
    return { version, total, groups, ids, status: places.map((place) => letters[place]).join('') };
  };
}

function orderOf(cells: GridCells): KnownOrder {
  const { places, groups } = gridOrder(cells.ids, cells.labels);
  const ids = places.map((place) => cells.ids[place] ?? '');
  const hash = createHash('sha256').update(JSON.stringify([groups, ids]));
  return { cells, version: hash.digest('hex').slice(0, 16), groups, places, ids };
}

function hasSameCells(a: GridCells, b: GridCells): boolean {
  return (
    a.ids.length === b.ids.length &&
    a.ids.every((id, place) => id === b.ids[place] && a.labels[place] === b.labels[place])
  );
}

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** Returns what the hosts of the last 24 hours took, by the hour of UTC. */
export async function readThroughput({ db, clock }: { db: Db; clock(): Date }): Promise<Throughput> {
  const now = clock();
  const last = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS;
  const first = last - (HOURS - 1) * HOUR_MS;
  const counted = new Map((await countByHour(db, new Date(first))).map((count) => [count.hour.getTime(), count]));
  const hours = Array.from({ length: HOURS }, (_, index) => {
    const hour = first + index * HOUR_MS;
    const { configured = 0, failed = 0 } = counted.get(hour) ?? {};
    return { hour: new Date(hour).toISOString(), configured, failed };
  });
  return { hours, as_of: now.toISOString() };
}
