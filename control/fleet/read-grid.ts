import { createHash } from 'node:crypto';
import { type GridGroup, gridOrder, labelsInOrder } from '../../domain/fleet/grid.ts';
import { type FleetGrid, GRID_CELLS_MAX, GRID_GROUPS_MAX, type Throughput } from '../../domain/fleet/grid-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  countByHour,
  countGroups,
  type GridCells,
  type GridGrouping,
  hasMoreComponents,
  readGridCells,
} from '../../store/fleet/grid.ts';

/** What was read last: components seldom come and go, and their order takes most of the time. */
interface KnownOrder {
  cells: GridCells;
  version: string;
  groups: GridGroup[];
  places: number[];
  ids: string[];
}

export type FleetGridWhole = Required<FleetGrid>;

/**
 * Returns what reads the grid in one grouping; it remembers the places of the cells.
 * @param most components whose cells are read; of more the database counts the groups, and nothing is remembered
 */
export function createGridReader(db: Db, grouping: GridGrouping, most = GRID_CELLS_MAX): () => Promise<FleetGridWhole> {
  let known: KnownOrder | undefined;
  return async () => {
    if (await hasMoreComponents(db, most)) {
      known = undefined;
      return readGroups(db, grouping);
    }
    const cells = await readGridCells(db, grouping);
    if (known === undefined || !hasSameCells(known.cells, cells)) known = orderOf(cells);
    const { version, groups, places, ids } = known;
    const { letters } = cells;
    return { version, total: ids.length, groups, ids, status: places.map((place) => letters[place]).join('') };
  };
}

async function readGroups(db: Db, grouping: GridGrouping): Promise<FleetGridWhole> {
  const { total, groups: counted } = await countGroups(db, grouping, GRID_GROUPS_MAX);
  let start = 0;
  const groups = labelsInOrder(counted.map(({ label }) => label)).map((place) => {
    const { label = '', count = 0 } = counted[place] ?? {};
    const group = { label, start, count };
    start += count;
    return group;
  });
  return { version: versionOf([total, groups]), total, groups, ids: [], status: '' };
}

function orderOf(cells: GridCells): KnownOrder {
  const { places, groups } = gridOrder(cells.ids, cells.labels);
  const ids = places.map((place) => cells.ids[place] ?? '');
  return { cells, version: versionOf([groups, ids]), groups, places, ids };
}

function versionOf(what: unknown): string {
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
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
