import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ComponentItem, ComponentItems } from '../../../domain/components/list-schema.ts';
import { apiBase } from '../shared/api-call.ts';
import { ListFrame } from '../shared/list/list-frame.tsx';
import { DataTable } from '../shared/ui/data-table.tsx';
import { KeySwitch } from '../shared/ui/help.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { StatusBadge } from '../shared/ui/status-badge.tsx';
import { listCommand } from './commands.ts';
import { ComponentActions } from './component-actions.tsx';
import { ComponentFilterBar, hostlistMistake } from './component-filters.tsx';
import { type ComponentListSearch, csvPath, filtersOf, isFiltered, listPath } from './search.ts';
import { isSelected, NOTHING, type Selected, toggled } from './selected.ts';
import { SelectionBar } from './selection-bar.tsx';

/** Which machines are not as they should be, and what is to be done about them. */
export function ComponentListPage() {
  const { dropped, ...search } = useSearch({ from: '/components' });
  const filters = JSON.stringify(filtersOf(search));
  return (
    <ListFrame<ComponentItems>
      name="Components"
      dropped={dropped}
      path={listPath(search)}
      queryKey={['components']}
      topic="components"
      bar={(error) => <ComponentFilterBar search={filtersOf(search)} refused={error} />}
      isShownByBar={(error) => hostlistMistake(error) !== null}
      command={listCommand(filtersOf(search))}
      buttons={
        <>
          <a href={`${apiBase()}${csvPath(search)}`} download="components.csv">
            Download as CSV
          </a>
          <KeySwitch label="Keys: / filter, j and k rows, x select" />
        </>
      }
    >
      {(answer) => <Found key={filters} answer={answer} search={search} />}
    </ListFrame>
  );
}

interface FoundProps {
  answer: ComponentItems;
  search: ComponentListSearch;
}

/** What matches, with what is selected of it; another filter begins with nothing. */
function Found({ answer, search }: FoundProps) {
  const { components, next, total = components.length, more, unknown = [] } = answer;
  const [selected, setSelected] = useState<Selected>(NOTHING);
  const filters = filtersOf(search);
  const mark = ({ id }: ComponentItem) => setSelected((before) => toggled(before, id));
  return (
    <>
      <p>
        {more && 'more than '}
        {total} {total === 1 ? 'component' : 'components'}
        {unknown.length > 0 && `. Of no component: ${unknown.map(shownText).join(', ')}`}
      </p>
      <SelectionBar selected={selected} setSelected={setSelected} filters={filters} shown={components} total={total} />
      <ComponentActions selected={selected} filters={filters} deleted={() => setSelected(NOTHING)} />
      {components.length === 0 && search.after_id === undefined ? (
        <Empty search={search} />
      ) : (
        <DataTable
          // Another page begins at its first row.
          key={search.after_id ?? ''}
          name="Components"
          columns={COLUMNS}
          rows={components}
          keyOf={({ id }) => id}
          onMark={mark}
          cells={(component) => (
            <Cells
              component={component}
              isMarked={isSelected(selected, component.id)}
              isWhole={selected.kind === 'all'}
              mark={mark}
            />
          )}
        />
      )}
      <p className="buttons">
        {search.after_id !== undefined && (
          <Link to="/components" search={filters}>
            First
          </Link>
        )}
        {next !== null && (
          <Link to="/components" search={{ ...filters, after_id: String(next.after_id) }}>
            Next
          </Link>
        )}
      </p>
    </>
  );
}

function Empty({ search }: { search: ComponentListSearch }) {
  if (!isFiltered(search)) {
    return (
      <p>
        There are no components yet. <code>./muster component apply -f FILE</code> makes them.
      </p>
    );
  }
  return (
    <p>
      No component matches the filter. <Link to="/components">All components</Link>
    </p>
  );
}

const COLUMNS = [
  { head: 'Selected', word: 'mark' },
  { head: 'Component', word: 'name' },
  { head: 'Status', word: 'standing' },
  { head: 'Reason', word: 'why' },
  { head: 'Configuration', word: 'name' },
  { head: 'Errors', word: 'number' },
  { head: 'Session', word: 'name' },
  { head: 'Changed', word: 'age' },
] as const;

interface CellsProps {
  component: ComponentItem;
  isMarked: boolean;
  /** All that match are selected: none can be left out. */
  isWhole: boolean;
  mark(component: ComponentItem): void;
}

function Cells({ component, isMarked, isWhole, mark }: CellsProps) {
  const { id, status, why, enabled, desired_config, error_count, session, updated_at } = component;
  return (
    <>
      <td>
        <input
          type="checkbox"
          aria-label={`Select ${shownText(id)}`}
          checked={isMarked}
          disabled={isWhole}
          onChange={() => mark(component)}
        />
      </td>
      <th scope="row">
        <Link to="/components/$id" params={{ id }}>
          {shownText(id)}
        </Link>
      </th>
      <td>
        <StatusBadge word={status} /> {!enabled && <StatusBadge word="disabled" />}
      </td>
      <td title={shownText(why)}>{shownText(why)}</td>
      <td>{shownText(desired_config)}</td>
      <td>{error_count}</td>
      <td>
        {session !== null && (
          <Link to="/sessions/$name" params={{ name: session.name }} search={{ id: session.id }}>
            {shownText(session.name)}
          </Link>
        )}
      </td>
      <td>
        <Moment at={updated_at} />
      </td>
    </>
  );
}
