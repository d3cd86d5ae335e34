import './fleet.css';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { shellWord } from '../shared/commands.ts';
import { CopyView } from '../shared/ui/copy-view.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { StatusBadge } from '../shared/ui/status-badge.tsx';
import { GridCanvas } from './grid-canvas.tsx';
import { gridPath, useGrid } from './grid-data.ts';
import { countsOf, GROUPS_DRAWN, type Group, LETTERS } from './grid-layout.ts';
import { filterOf } from './group-filter.ts';

/** Groups that the table shows. */
const SHOWN = 100;

/** All components at once, with the same facts by group beside them. */
export function FleetGrid({ group = 'none' }: { group: string | undefined }) {
  const { whole, status } = useGrid(group);
  const path = gridPath(group, 'all');
  return (
    <section aria-label="Grid" aria-busy={whole.isPending || undefined}>
      <h2>Grid</h2>
      <Grouping group={group} />
      {whole.isError && <Failure error={whole.error} retry={() => void whole.refetch()} />}
      {whole.data && <Shown grid={whole.data} group={group} status={status} />}
      <CopyView command={`./muster api GET ${shellWord(`/api/v1${path}`)}`} path={path} />
    </section>
  );
}

function Grouping({ group }: { group: string }) {
  const navigate = useNavigate({ from: '/' });
  const id = useId();
  const [text, setText] = useState(group === 'none' ? '' : group);
  const apply = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ search: { group: text === '' || text === 'none' ? undefined : text }, resetScroll: false });
  };
  return (
    <form className="filters" onSubmit={apply}>
      <label htmlFor={id}>Group by</label>
      <input
        id={id}
        list={`${id}-known`}
        placeholder="configuration, or the key of a tag"
        maxLength={600}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <datalist id={`${id}-known`}>
        <option value="configuration" />
      </datalist>
      <button type="submit">Group</button>
    </form>
  );
}

interface ShownProps {
  grid: { ids?: string[] | undefined; groups?: Group[] | undefined; total: number };
  group: string;
  status: string;
}

function Shown({ grid: { ids = [], groups = [], total }, group, status }: ShownProps) {
  if (total === 0) return <p>There are no components to show.</p>;
  const labelOf = ({ label }: Group) => (group === 'none' ? 'all' : label === '' ? '(none)' : label);
  return (
    <div className="grid-and-groups">
      {ids.length > 0 && groups.length <= GROUPS_DRAWN ? (
        <div>
          <GridCanvas ids={ids} groups={groups} status={status} labelOf={labelOf} />
          <p className="buttons quiet">
            {Object.values(LETTERS).map((word) => (
              <StatusBadge key={word} word={word} />
            ))}
            <span>
              <StatusBadge word="running" /> as a ring: in a session
            </span>
          </p>
        </div>
      ) : (
        <p>
          There are too many{' '}
          {ids.length > 0 ? `groups for a grid: ${groups.length}` : `components for a grid: ${total}`}. The groups are
          shown alone.
        </p>
      )}
      <Groups groups={groups} group={group} status={status} labelOf={labelOf} />
    </div>
  );
}

interface GroupsProps {
  groups: readonly Group[];
  group: string;
  status: string;
  labelOf(group: Group): string;
}

function Groups({ groups, group, status, labelOf }: GroupsProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys
    <section className="long groups" aria-label="Groups" tabIndex={0}>
      <table aria-label="Groups">
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Components</th>
            {status !== '' &&
              Object.values(LETTERS).map((word) => (
                <th key={word} scope="col">
                  {word}
                </th>
              ))}
            {status !== '' && <th scope="col">in a session</th>}
          </tr>
        </thead>
        <tbody>
          {groups.slice(0, SHOWN).map((one) => {
            const counts = countsOf(one, status);
            return (
              <tr key={one.start}>
                <th scope="row">
                  <GroupLink group={group} label={one.label} text={labelOf(one)} />
                </th>
                <td>{one.count}</td>
                {status !== '' && Object.values(LETTERS).map((word) => <td key={word}>{counts[word]}</td>)}
                {status !== '' && <td>{counts.held}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
      {groups.length > SHOWN && <p>and {groups.length - SHOWN} more groups</p>}
    </section>
  );
}

/** Leads to the components of a group, where they can be asked for. */
function GroupLink({ group, label, text }: { group: string; label: string; text: string }) {
  const filter = filterOf(group, label);
  if (filter === null) return shownText(text);
  return (
    <Link to="/components" search={filter}>
      {shownText(text)}
    </Link>
  );
}
