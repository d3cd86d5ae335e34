import { Link } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { useRowKeys } from '../ui/keys.ts';
import type { ListValues } from './filters.ts';

export interface ListColumn<Row> {
  head: string;
  cell(row: Row): ReactNode;
}

export interface ListTableProps<Row> {
  /** Of the table. */
  name: string;
  /** The first one names the row: a link where the row has a page. */
  columns: readonly ListColumn<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Whether the keys `j` and `k` go through it: of the tables of a page one. */
  isMain?: boolean;
}

/** A table of which the first cell of each row is its head. */
export function ListTable<Row>({ name, columns, rows, keyOf, isMain = false }: ListTableProps<Row>) {
  const [head, ...others] = columns;
  const place = useRef<HTMLTableElement>(null);
  useRowKeys(place, isMain);
  return (
    <table aria-label={name} className="wide" ref={place}>
      <thead>
        <tr>
          <th scope="col">{head?.head}</th>
          {others.map((column) => (
            <th key={column.head} scope="col">
              {column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            <th scope="row">{head?.cell(row)}</th>
            {others.map((column) => (
              <td key={column.head}>{column.cell(row)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** In which order a list is: what its first and its next pages are called. */
export const ORDERS = {
  names: { first: 'First', next: 'More' },
  newest: { first: 'Newest', next: 'Older' },
} as const;

interface PagingProps {
  order: keyof typeof ORDERS;
  search: ListValues;
  /** Of the API. */
  next: { after_id: string | number } | null;
}

/** Links to the first page and to the next one. */
export function Paging({ order, search, next }: PagingProps) {
  const pageAt = (after_id: string | undefined) => ({ ...search, after_id }) as never;
  return (
    <p className="buttons">
      {search.after_id !== undefined && (
        <Link to="." search={pageAt(undefined)}>
          {ORDERS[order].first}
        </Link>
      )}
      {next !== null && (
        <Link to="." search={pageAt(String(next.after_id))}>
          {ORDERS[order].next}
        </Link>
      )}
    </p>
  );
}
