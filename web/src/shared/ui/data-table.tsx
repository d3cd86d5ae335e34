/** A table of many rows, of which those are drawn that are seen. Rows have one height, so that the place of each is known. */
import { type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { rowWindow } from '../row-window.ts';
import { isTyped, keysAreOn } from './keys.ts';

/** Height of a row, px; theme.css has the same. */
const ROW_HEIGHT = 40;

export interface DataTableProps<Row> {
  /** The page's name. */
  name: string;
  /** Heads of the columns, each with the word of its class. */
  columns: readonly { head: string; word: string }[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** The cells of a row: a `th` with a link, and `td`. */
  cells(row: Row): ReactNode;
  /** The key `x` on a row. */
  onMark?(row: Row): void;
}

/** Draws it. `j` and `k` go through the rows, `x` marks, Enter opens. */
export function DataTable<Row>({ name, columns, rows, keyOf, cells, onMark }: DataTableProps<Row>) {
  const place = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 800 });
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const { first, end } = rowWindow({ ...seen, rowHeight: ROW_HEIGHT, count: rows.length });

  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const { key } = event;
    if (!['j', 'k', 'x'].includes(key) || isTyped(event.nativeEvent) || !keysAreOn()) return;
    event.preventDefault();
    const at = placeOf(event.target);
    const row = at === null ? undefined : rows[at];
    if (key === 'x') {
      if (row !== undefined) onMark?.(row);
      return;
    }
    const next = at === null ? first : Math.max(0, Math.min(rows.length - 1, at + (key === 'j' ? 1 : -1)));
    // Rows around those that are seen are drawn; focus brings the row into view.
    place.current?.querySelector<HTMLElement>(`tr[data-place="${next}"] th a`)?.focus();
  };
  return (
    <section
      aria-label="Rows"
      className="long"
      ref={place}
      onKeyDown={onKey}
      onScroll={({ currentTarget: { scrollTop: top, clientHeight: height } }) => setSeen({ top, height })}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys
      tabIndex={0}
    >
      <table aria-label={name} aria-rowcount={rows.length + 1} className="wide fixed">
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ head, word }) => (
              <th key={head} scope="col" className={word}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <Space rows={first} columns={columns.length} />
        <tbody>
          {rows.slice(first, end).map((row, index) => (
            <tr key={keyOf(row)} aria-rowindex={first + index + 2} data-place={first + index}>
              {cells(row)}
            </tr>
          ))}
        </tbody>
        <Space rows={rows.length - end} columns={columns.length} />
      </table>
    </section>
  );
}

/** Room of rows that are not drawn. */
function Space({ rows, columns }: { rows: number; columns: number }) {
  if (rows <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr>
        <td colSpan={columns} className="space" style={{ height: rows * ROW_HEIGHT }} />
      </tr>
    </tbody>
  );
}

/** Returns the place of the row that something is in; null where it is in none. */
function placeOf(target: EventTarget): number | null {
  const row = target instanceof Element ? target.closest<HTMLElement>('tr[data-place]') : null;
  return row?.dataset.place === undefined ? null : Number(row.dataset.place);
}
