import { useSearch } from '@tanstack/react-router';
import type { SessionItem } from '../../../domain/sessions/detail-schema.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { Moment, spanText } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { StatusBadge } from '../shared/ui/status-badge.tsx';
import { SESSION_FILTERS } from './search.ts';
import { SessionLink } from './session-link.tsx';
import { statusWord } from './status-word.ts';

interface SessionPageAnswer {
  sessions: SessionItem[];
  next: { after_id: string } | null;
  total: number;
  more?: boolean;
}

/** What runs, and what ran: the newest first. */
export function SessionListPage() {
  const { dropped, ...search } = useSearch({ from: '/sessions' });
  return (
    <ListPage<SessionPageAnswer, SessionItem>
      name="Sessions"
      search={search}
      dropped={dropped}
      filters={SESSION_FILTERS}
      api={{ path: '/sessions', ask: { order: 'newest', limit: '100', count: 'true' } }}
      queryKey={['sessions']}
      topic="sessions"
      rows={({ sessions }) => sessions}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      order="newest"
      empty={{
        narrowed: 'No session matches the filter.',
        all: 'All sessions',
        nothing: (
          <>
            There are no sessions yet. <code>./muster session run --configuration NAME</code>
          </>
        ),
      }}
      command="./muster session list"
      counted={({ total, more }) => (
        <p>
          {more && 'more than '}
          {total} {total === 1 ? 'session' : 'sessions'}
        </p>
      )}
    />
  );
}

const COLUMNS: readonly ListColumn<SessionItem>[] = [
  { head: 'Session', cell: ({ id, name }) => <SessionLink id={id} name={name} /> },
  { head: 'Status', cell: (session) => <StatusBadge word={statusWord(session)} /> },
  { head: 'Reason', cell: ({ status }) => shownText(status.session.message) },
  { head: 'Configuration', cell: ({ configuration }) => shownText(configuration.name) },
  { head: 'Age', cell: ({ started_at }) => <Moment at={started_at} /> },
  { head: 'Hosts (ok/failed)', cell: ({ hosts }) => `${hosts.applied}/${hosts.failed}` },
  {
    head: 'Duration',
    cell: ({ started_at, ended_at }) =>
      ended_at === null ? '' : spanText(Date.parse(ended_at) - Date.parse(started_at)),
  },
];
