import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type ListColumn, ListTable } from '../list/list-table.tsx';
import { Failure } from './failure.tsx';

interface PartProps<Answer> {
  title: string;
  read: UseQueryResult<Answer>;
  children(answer: Answer): ReactNode;
}

/** A part of a page that is read by itself, and fails alone. */
export function Part<Answer>({ title, read, children }: PartProps<Answer>) {
  return (
    <section aria-label={title} aria-busy={read.isPending || undefined}>
      <h2>{title}</h2>
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data !== undefined && children(read.data)}
    </section>
  );
}

interface RowsProps<Row> {
  name: string;
  columns: readonly ListColumn<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** What is said when there is no row. */
  none: ReactNode;
}

/** A table, or what is said instead. */
export function Rows<Row>({ rows, none, ...table }: RowsProps<Row>) {
  return rows.length === 0 ? <p>{none}</p> : <ListTable rows={rows} {...table} />;
}
