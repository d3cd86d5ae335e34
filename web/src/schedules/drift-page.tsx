import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import type { DriftItem } from '../../../domain/components/drift-schema.ts';
import { apiBase, callApi } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { DroppedNotice } from '../shared/ui/notice.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { CheckActions } from './check-actions.tsx';
import { DriftDetails } from './drift-details.tsx';
import { changedText } from './drift-text.ts';
import { DRIFT_WORDS, type DriftSearch } from './search.ts';

/** How often the list is read while it is seen, ms. */
const READ_EVERY_MS = 10_000;

interface DriftPageAnswer {
  drift: DriftItem[];
  next: { after_id: string } | null;
}

/** What the last check found of each component. */
export function DriftPage() {
  const { dropped, ...search } = useSearch({ from: '/drift' });
  const { component, ...filter } = search;
  const query = new URLSearchParams({ limit: '100' });
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, value);
  const path = `/drift?${query}`;
  const list = useQuery({
    queryKey: ['drift', 'list', path],
    queryFn: ({ signal }) => callApi<DriftPageAnswer>(path, { signal }),
    placeholderData: (before) => before,
    refetchInterval: READ_EVERY_MS,
  });
  return (
    <main aria-busy={list.isPending || undefined}>
      <title>Drift - Muster</title>
      <h1>Drift</h1>
      <DroppedNotice names={dropped} />
      <CheckActions configuration={search.config_name ?? null} />
      {component !== undefined && <DriftDetails key={component} id={component} />}
      <Filters key={search.config_name ?? ''} search={search} />
      {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.data && <Found answer={list.data} search={search} />}
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text={cliOf(search)} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}${path}`)} />
      </p>
    </main>
  );
}

function Filters({ search }: { search: DriftSearch }) {
  const navigate = useNavigate({ from: '/drift' });
  const id = useId();
  const [text, setText] = useState(search.config_name ?? '');
  const go = (change: DriftSearch) => void navigate({ search: { ...search, after_id: undefined, ...change } });
  const apply = (event: FormEvent) => {
    event.preventDefault();
    go({ config_name: text === '' ? undefined : text });
  };
  return (
    <form className="filters" onSubmit={apply}>
      <label htmlFor={`${id}-configuration`}>Configuration</label>
      <input
        id={`${id}-configuration`}
        value={text}
        spellCheck={false}
        onChange={({ target }) => setText(target.value)}
      />
      <label htmlFor={`${id}-status`}>Status</label>
      <select
        id={`${id}-status`}
        value={search.status ?? ''}
        onChange={({ target }) => go({ status: DRIFT_WORDS.find((word) => word === target.value) })}
      >
        <option value="">any</option>
        {DRIFT_WORDS.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    </form>
  );
}

function Found({ answer: { drift, next }, search }: { answer: DriftPageAnswer; search: DriftSearch }) {
  if (drift.length === 0) {
    const isNarrowed = search.status !== undefined || search.config_name !== undefined || search.after_id !== undefined;
    return (
      <p>
        {isNarrowed ? 'No component matches the filter. ' : 'No check has looked yet. '}
        {isNarrowed ? <Link to="/drift">All components</Link> : <code>./muster drift check --all</code>}
      </p>
    );
  }
  return (
    <>
      <table aria-label="Drift" className="wide">
        <thead>
          <tr>
            <th scope="col">Component</th>
            <th scope="col">Status</th>
            <th scope="col">Tasks that would change it</th>
            <th scope="col">Configuration</th>
            <th scope="col">Checked</th>
          </tr>
        </thead>
        <tbody>
          {drift.map((item) => (
            <tr key={item.id}>
              <th scope="row">
                <Link to="/drift" search={{ ...search, component: item.id }}>
                  {shownText(item.id)}
                </Link>
              </th>
              <td>{item.status}</td>
              <td>{changedText(item)}</td>
              <td>{shownText(item.configuration)}</td>
              <td>
                <Moment at={item.checked_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="buttons">
        {search.after_id !== undefined && (
          <Link to="/drift" search={{ ...search, after_id: undefined }}>
            First
          </Link>
        )}
        {next !== null && (
          <Link to="/drift" search={{ ...search, after_id: next.after_id }}>
            More
          </Link>
        )}
      </p>
    </>
  );
}

function cliOf({ status, config_name }: DriftSearch): string {
  return [
    './muster drift list',
    ...(status === undefined ? [] : [`--status ${status}`]),
    ...(config_name === undefined ? [] : [`--config ${shellWord(config_name)}`]),
  ].join(' ');
}
