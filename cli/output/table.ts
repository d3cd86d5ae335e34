import { oneLine } from '../terminal/neutralise.ts';
import type { Column } from './columns.ts';
import { cutTo, padded, widthOf } from './display-width.ts';
import { fitColumns, GAP, type Room } from './fit-columns.ts';

/**
 * Lines of text in columns, two blanks apart, with a line of titles unless `headers` is false. Cells are made harmless and one line each. Where
 * there is a `room`, texts are cut and columns left out so that it has the table.
 */
export function table<T>(columns: Column<T>[], records: readonly T[], headers = true, room?: Room): string {
  const rows = [
    ...(headers ? [columns.map((column) => column.title)] : []),
    ...records.map((record) => columns.map((column) => oneLine(column.value(record)))),
  ];
  const widths = fitColumns(rows, room);
  const gap = ' '.repeat(GAP);
  return rows
    .map((row) => {
      const cells = row.flatMap((text, index) => {
        const width = widths[index] ?? 0;
        return width === 0 && room !== undefined ? [] : [padded(room === undefined ? text : cutTo(text, width), width)];
      });
      return `${cells.join(gap).trimEnd()}\n`;
    })
    .join('');
}

/** Fields of one record, one a line, names in a column; fields without text are left out. */
export function fieldList(fields: [name: string, text: string][]): string {
  const shown = fields.filter(([, text]) => text !== '');
  const width = Math.max(0, ...shown.map(([name]) => widthOf(name)));
  return shown.map(([name, text]) => `${padded(name, width)}  ${oneLine(text)}\n`).join('');
}

const tsvCell = (text: string): string =>
  text.replace(/\\/g, '\\\\').replace(/\t/g, '\\t').replace(/\n/g, '\\n').replace(/\r/g, '\\r');

/**
 * Tab-separated values with a line of titles unless `headers` is false; tab, line end and backslash inside a cell are escaped by a
 * backslash.
 */
export function tabSeparated<T>(columns: Column<T>[], records: T[], headers = true): string {
  const line = (cells: string[]): string => `${cells.map(tsvCell).join('\t')}\n`;
  const titles = columns.map((column) => column.title.toLowerCase().replace(/ /g, '_'));
  return [
    ...(headers ? [line(titles)] : []),
    ...records.map((record) => line(columns.map((column) => (column.data ?? column.value)(record)))),
  ].join('');
}
