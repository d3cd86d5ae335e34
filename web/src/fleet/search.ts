/** What the URL of the fleet page says. */
import { type Dropped, keptValues, wholeTextOf } from '../shared/search-values.ts';

export interface FleetSearch extends Dropped {
  /** What the grid is grouped by: `configuration`, or the key of a tag; left out: nothing. */
  group?: string | undefined;
}

/** Longest key of a tag, characters. */
const KEY_MAX = 600;

/** Returns what the URL of the fleet page says. */
export function readFleetSearch(given: Record<string, unknown>): FleetSearch {
  return keptValues({ group: wholeTextOf(given.group, KEY_MAX) });
}
