import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import type { SessionItem } from '../../../domain/sessions/detail-schema.ts';
import { apiBase, callApi } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment, spanText } from '../shared/ui/moment.tsx';
import { DroppedNotice } from '../shared/ui/notice.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { StatusBadge } from '../shared/ui/status-badge.tsx';
import { LIST_STATUSES, type ListSearch } from './search.ts';
import { statusWord } from './status-word.ts';

/** Sessions of one page of the list. */
const PAGE = 100;

interface SessionPageAnswer {
  sessions: SessionItem[];
  next: { after_id: string } | null;
  total: number;
  more?: boolean;
}

/** What runs, and what ran: the newest first. */
export function SessionListPage() {
  const { dropped, ...search } = useSearch({ from: '/sessions' });
  const query = new URLSearchParams({ order: 'newest', limit: String(PAGE), count: 'true' });
  for (const [name, value] of Object.entries(search)) if (value !== undefined) query.set(name, value);
  const path = `/sessions?${query}`;
  const key = ['sessions', path];
  const list = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => callApi<SessionPageAnswer>(path, { signal }),
    placeholderData: (before) => before,
  });
  useLive('sessions', key);
  return (
    <main aria-busy={list.isPending || undefined}>
      <title>Sessions - Muster</title>
      <h1>Sessions</h1>
      <DroppedNotice names={dropped} />
      <Filters key={search.name_contains ?? ''} search={search} />
      {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.data && <Found answer={list.data} search={search} />}
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text={cliOf(search)} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}${path}`)} />
      </p>
    </main>
  );
}

function Filters({ search }: { search: ListSearch }) {
  const navigate = useNavigate({ from: '/sessions' });
  const [filter, status] = [useId(), useId()];
  const [text, setText] = useState(search.name_contains ?? '');
  const go = (change: ListSearch) => void navigate({ search: { ...search, after_id: undefined, ...change } });
  const apply = (event: FormEvent) => {
    event.preventDefault();
    go({ name_contains: text === '' ? undefined : text });
  };
  return (
    <form className="filters" onSubmit={apply}>
      <label htmlFor={filter}>Filter</label>
      <input
        id={filter}
        type="search"
        placeholder="part of the name"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <label htmlFor={status}>Status</label>
      <select
        id={status}
        value={search.status ?? ''}
        onChange={({ target }) => go({ status: LIST_STATUSES.find((word) => word === target.value) })}
      >
        <option value="">any</option>
        {LIST_STATUSES.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
    </form>
  );
}

function Found({ answer, search }: { answer: SessionPageAnswer; search: ListSearch }) {
  const { sessions, next, total, more } = answer;
  if (sessions.length === 0) {
    const isFiltered = search.status !== undefined || search.name_contains !== undefined;
    return (
      <p>
        {isFiltered ? 'No session matches the filter. ' : 'There are no sessions yet. '}
        {isFiltered ? <Link to="/sessions">All sessions</Link> : <code>./muster session run --configuration NAME</code>}
      </p>
    );
  }
  return (
    <>
      <p>
        {more && 'more than '}
        {total} {total === 1 ? 'session' : 'sessions'}
      </p>
      <table aria-label="Sessions" className="wide">
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col">Status</th>
            <th scope="col">Reason</th>
            <th scope="col">Configuration</th>
            <th scope="col">Age</th>
            <th scope="col">Hosts (ok/failed)</th>
            <th scope="col">Duration</th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <Row key={session.id} session={session} />
          ))}
        </tbody>
      </table>
      <p className="buttons">
        {search.after_id !== undefined && (
          <Link to="/sessions" search={{ ...search, after_id: undefined }}>
            Newest
          </Link>
        )}
        {next !== null && (
          <Link to="/sessions" search={{ ...search, after_id: String(next.after_id) }}>
            Older
          </Link>
        )}
      </p>
    </>
  );
}

function Row({ session }: { session: SessionItem }) {
  const { id, name, configuration, hosts, started_at, ended_at } = session;
  const { message } = session.status.session;
  return (
    <tr>
      <th scope="row">
        <Link to="/sessions/$name" params={{ name }} search={{ id }}>
          {shownText(name)}
        </Link>
      </th>
      <td>
        <StatusBadge word={statusWord(session)} />
      </td>
      <td>{shownText(message)}</td>
      <td>{shownText(configuration.name)}</td>
      <td>
        <Moment at={started_at} />
      </td>
      <td>
        {hosts.applied}/{hosts.failed}
      </td>
      <td>{ended_at === null ? '' : spanText(Date.parse(ended_at) - Date.parse(started_at))}</td>
    </tr>
  );
}

function cliOf({ status, name_contains }: ListSearch): string {
  return [
    './muster session list',
    ...(status === undefined ? [] : [`--status ${status}`]),
    ...(name_contains === undefined ? [] : [`--name-contains ${shellWord(name_contains)}`]),
  ].join(' ');
}
