/** Cells of the grid in their places: group by group, each in natural order. */
import { naturalPlaces } from '../components/natural-order.ts';

export interface GridGroup {
  label: string;
  start: number;
  count: number;
}

/** Where cells are: for each, the place that its component had in the list. */
interface GridOrder {
  places: number[];
  groups: GridGroup[];
}

/** Returns the order of components by their ids and the labels of their groups. What has no label comes last. */
export function gridOrder(ids: readonly string[], labels: readonly string[]): GridOrder {
  const members = new Map<string, number[]>();
  for (const place of naturalPlaces(ids)) {
    const label = labels[place] ?? '';
    const known = members.get(label);
    if (known === undefined) members.set(label, [place]);
    else known.push(place);
  }
  const names = [...members.keys()];
  const places: number[] = [];
  const groups: GridGroup[] = [];
  for (const label of labelsInOrder(names).map((place) => names[place] ?? '')) {
    const cells = members.get(label) ?? [];
    groups.push({ label, start: places.length, count: cells.length });
    for (const place of cells) places.push(place);
  }
  return { places, groups };
}

/** Returns the places of labels in the order in which their groups stand: in natural order, the empty one last. */
export function labelsInOrder(labels: readonly string[]): number[] {
  const places = naturalPlaces(labels);
  return [...places.filter((place) => labels[place] !== ''), ...places.filter((place) => labels[place] === '')];
}
