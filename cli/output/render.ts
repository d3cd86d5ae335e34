import { type CliContext, say } from '../context.ts';
import { manyLines } from '../terminal/neutralise.ts';
import type { Column, View } from './columns.ts';
import type { Room } from './fit-columns.ts';
import { type Format, isValueFormat, type ValueFormat } from './formats.ts';
import { type Shape, shapedView, sortedRecords } from './shape.ts';
import { table, tabSeparated } from './table.ts';
import { type TimeForm, timeText } from './times.ts';

const lines = (texts: string[]): string => texts.map((text) => `${text}\n`).join('');

/** One value in a form for programs. The YAML library is loaded when it is wanted, to keep other commands fast. */
export async function renderValue(value: unknown, format: ValueFormat): Promise<string> {
  if (format === 'yaml') return (await import('yaml')).stringify(value);
  return `${JSON.stringify(value, null, format === 'json' ? 2 : undefined)}\n`;
}

/** `records` in `format`, as text for stdout. A table is made for the `room` where there is one. */
export async function renderList<T>(
  view: View<T>,
  records: T[],
  format: Format,
  headers = true,
  room?: Room,
): Promise<string> {
  switch (format) {
    case 'json':
    case 'yaml':
      return renderValue(records, format);
    case 'jsonl':
      return lines(records.map((record) => JSON.stringify(record)));
    case 'tsv':
      return tabSeparated(view.columns, records, headers);
    case 'name':
      return lines(records.map(view.name));
    case 'wide':
      return table(view.columns, records, headers, room && { ...room, leavesOut: false });
    case 'table':
      return table(
        view.columns.filter((column) => !column.wide),
        records,
        headers,
        room,
      );
  }
}

/** One record: `table` and `wide` show what `details` writes, the others the record itself. */
export async function renderOne<T>(
  view: View<T>,
  record: T,
  format: Format,
  details: (record: T, wide: boolean) => string,
): Promise<string> {
  if (format === 'table' || format === 'wide') return details(record, format === 'wide');
  if (isValueFormat(format)) return renderValue(record, format);
  return renderList(view, [record], format);
}

/** Writes data. A pipe gets it as it is; on a terminal what could steer it is made visible. */
export function writeData(context: CliContext, text: string): void {
  context.out.write(context.out.terminal ? manyLines(text) : text);
}

/** The room that a table has: a terminal's width; in a pipe nothing is cut. */
export const roomOf = ({ out }: Pick<CliContext, 'out'>): Room | undefined =>
  out.terminal ? { width: out.columns(), leavesOut: true } : undefined;

/** Writes a list; an empty table is said on stderr, so that stdout stays empty. */
export async function writeList<T>(
  context: CliContext,
  view: View<T>,
  records: T[],
  asked: Format | Shape,
): Promise<void> {
  const shape: Shape = typeof asked === 'string' ? { output: asked } : asked;
  const { output, headers = true } = shape;
  const shaped = shapedView(view, shape);
  const ordered = sortedRecords(view, records, shape);
  const isTable = output === 'table' || output === 'wide';
  if (records.length === 0 && isTable) {
    say(context, `no ${view.noun}`);
    return;
  }
  // A table on a terminal is for a person; a pipe and programs get times that sort and compare.
  const form = isTable ? (shape.time ?? (context.out.terminal ? 'relative' : 'iso')) : 'iso';
  const room = roomOf(context);
  // Columns that were named are shown.
  const fitted = room && { ...room, leavesOut: shape.columns === undefined };
  writeData(context, await renderList(withTimes(shaped, form, context.now()), ordered, output, headers, fitted));
}

/** The view with cells that are times in this form. */
function withTimes<T>(view: View<T>, form: TimeForm, now: number): View<T> {
  const timed = (column: Column<T>): Column<T> => ({
    ...column,
    value: (record) => timeText(column.value(record), form, now),
    ...(column.data === undefined ? {} : { data: (record: T) => timeText(column.data?.(record) ?? '', form, now) }),
  });
  return { ...view, columns: view.columns.map(timed) };
}
