/** How a person asks for a list: its form, columns, order and times. */
import { usage } from '../failure.ts';
import type { Column, View } from './columns.ts';
import type { Format } from './formats.ts';
import type { TimeForm } from './times.ts';

export interface Shape {
  output: Format;
  /** Titles of the columns to show, in this order. */
  columns?: string[];
  /** False: without the line of titles. */
  headers?: boolean;
  /** Title of the column that orders the rows; with `-` in front the greatest comes first. */
  sort?: string;
  time?: TimeForm;
}

/** `s9` before `s10`. */
export const { compare: byNaturalOrder } = new Intl.Collator('en', { numeric: true });

/** What a title is compared by: `LAST RUN`, `last_run` and `last-run` are one. */
const nameOf = (title: string): string => title.toLowerCase().replace(/[ _-]+/g, '_');

/** The view with the columns that were asked for. Throws for a column that it does not have. */
export function shapedView<T>(view: View<T>, { columns }: Shape): View<T> {
  if (columns === undefined) return view;
  const chosen = columns.map((name) => ({ ...columnOf(view, name), wide: false }));
  return { ...view, columns: chosen };
}

/** The records in the order that was asked for; equal ones stay as they are. Throws for a column that the view does not have. */
export function sortedRecords<T>(view: View<T>, records: readonly T[], { sort }: Shape): T[] {
  if (sort === undefined) return [...records];
  const isDescending = sort.startsWith('-');
  const { order, value, data = value } = columnOf(view, isDescending ? sort.slice(1) : sort);
  const keyed = records.map((record) => ({ record, key: order?.(record) ?? data(record) }));
  const compare = (one: number | string, other: number | string): number =>
    typeof one === 'number' && typeof other === 'number' ? one - other : byNaturalOrder(String(one), String(other));
  keyed.sort((one, other) => (isDescending ? compare(other.key, one.key) : compare(one.key, other.key)));
  return keyed.map(({ record }) => record);
}

function columnOf<T>(view: View<T>, name: string): Column<T> {
  const found = view.columns.find(({ title }) => nameOf(title) === nameOf(name));
  if (found !== undefined) return found;
  const known = view.columns.map(({ title }) => nameOf(title)).join(', ');
  throw usage(`${view.noun} have no column ${name}`, `columns are ${known}`);
}
