/** A list as a page: filters from the URL, a table of what the API found, paging, and the same as commands. */
import type { QueryKey } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Surface } from '../api-call.ts';
import { FilterBar } from './filter-bar.tsx';
import { isNarrowed, type ListFilter, type ListValues, listCommand, listPath } from './filters.ts';
import { ListFrame } from './list-frame.tsx';
import { type ListColumn, ListTable, type ORDERS, Paging } from './list-table.tsx';

/** What of the answers of lists in pages is the same; the whole of a list has none of it. */
interface Paged {
  next?: { after_id: string | number } | null;
}

export interface ListPageProps<Answer, Row> {
  /** Of the page, of its heading and of its table. */
  name: string;
  /** What the URL says; `dropped` is what of it was not known. */
  search: ListValues;
  dropped: readonly string[] | undefined;
  filters: readonly ListFilter[];
  /** What is asked of the API beside the filters. */
  api: { path: string; surface?: Surface; ask?: Readonly<Record<string, string>> };
  queryKey: QueryKey;
  /** Topic of the stream that tells of changes. */
  topic: string;
  /** Why the user may not read it; null: nothing is in the way. */
  refusal?: string | null;
  rows(answer: Answer): readonly Row[];
  keyOf(row: Row): string;
  columns: readonly ListColumn<Row>[];
  order: keyof typeof ORDERS;
  /** What an empty list says. */
  empty: {
    /** While a filter is set: that nothing matches. */
    narrowed: string;
    /** Of the link that takes all filters away. */
    all: string;
    /** That there is nothing, and the next step. */
    nothing: ReactNode;
  };
  /** The command that lists, without filters. */
  command: string;
  /** Between heading and filters. */
  above?: ReactNode;
  /** In the place of the filters. */
  instead?: ReactNode;
  /** Buttons behind the filters. */
  beside?: ReactNode;
  /** What an answer says beside its rows, also where it has none. */
  head?(answer: Answer): ReactNode;
  /** Above the table of what was found. */
  counted?(answer: Answer): ReactNode;
  /** Behind the list. */
  below?: ReactNode;
}

/** The page. */
export function ListPage<Answer, Row>(props: ListPageProps<Answer, Row>) {
  const { name, search, dropped, filters, api, queryKey, topic, refusal, above, instead, beside, below, command } =
    props;
  return (
    <ListFrame<Answer>
      name={name}
      dropped={dropped}
      path={listPath(api.path, filters, search, api.ask ?? { limit: '100' })}
      surface={api.surface}
      queryKey={queryKey}
      topic={topic}
      refusal={refusal}
      above={above}
      bar={() => instead ?? <FilterBar filters={filters} search={search} beside={beside} />}
      command={listCommand(command, filters, search)}
      below={below}
    >
      {(answer) => (
        <>
          {props.head?.(answer)}
          <Found answer={answer} {...props} />
        </>
      )}
    </ListFrame>
  );
}

function Found<Answer, Row>({ answer, ...props }: ListPageProps<Answer, Row> & { answer: Answer }) {
  const { name, search, filters, rows, keyOf, columns, order, empty, counted } = props;
  const found = rows(answer);
  if (found.length === 0) {
    const isLess = isNarrowed(filters, search) || search.after_id !== undefined;
    return (
      <p>
        {isLess ? empty.narrowed : empty.nothing}{' '}
        {isLess && (
          <Link to="." search={{} as never}>
            {empty.all}
          </Link>
        )}
      </p>
    );
  }
  return (
    <>
      {counted?.(answer)}
      <ListTable name={name} columns={columns} rows={found} keyOf={keyOf} isMain />
      <Paging order={order} search={search} next={(answer as Paged).next ?? null} />
    </>
  );
}
