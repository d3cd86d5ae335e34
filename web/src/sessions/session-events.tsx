import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { SessionEvent } from '../../../domain/runs/stream-schema.ts';
import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';
import { apiBase, callApi, recordPath } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { FilterBar } from '../shared/list/filter-bar.tsx';
import { isNarrowed, listCommand, listPath } from '../shared/list/filters.ts';
import { type ListColumn, ListTable } from '../shared/list/list-table.tsx';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { eventMessage, eventName, eventPlace, textOf } from './event-text.ts';
import { EVENT_FILTERS, type SessionSearch } from './search.ts';
import { useReplaced } from './use-replaced.ts';

/** Events of a page: never all at once. */
const PAGE = 100;

interface EventsAnswer {
  events: SessionEvent[];
  next: object | null;
}

/** What happened on the hosts: the newest of it, or a page from a place on. */
export function SessionEvents({ session, search }: { session: SessionDetail; search: SessionSearch }) {
  const { name } = session;
  const { after_id: after } = search;
  const values = { host: search.host, result: search.result };
  const page: Record<string, string> = after === undefined ? { tail: String(PAGE) } : { after, limit: String(PAGE) };
  const path = listPath(`${recordPath('sessions', name)}/events`, EVENT_FILTERS, values, { id: session.id, ...page });
  const read = useQuery({
    queryKey: ['session', name, 'events', path],
    queryFn: ({ signal }) => callApi<EventsAnswer>(path, { signal }),
    placeholderData: (before) => before,
  });
  useReplaced(name, read.error);
  const { events, next } = read.data ?? { events: [], next: null };
  const rows = after === undefined ? events.toReversed() : events;
  const last = events.at(-1)?.seq;
  const at = (after_id: string | undefined) => ({ ...search, after_id }) as never;
  return (
    <section aria-label="Events" aria-busy={read.isPending || read.isPlaceholderData || undefined}>
      <FilterBar filters={EVENT_FILTERS} search={{ id: session.id, tab: 'events', ...values }} />
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data !== undefined && rows.length === 0 && (
        <p>{isNarrowed(EVENT_FILTERS, values) ? 'No event matches the filter.' : 'There are no events here yet.'}</p>
      )}
      {rows.length > 0 && (
        <ListTable name="Events" columns={COLUMNS} rows={rows} keyOf={({ seq }) => String(seq)} isMain />
      )}
      <p className="buttons">
        {after === undefined ? (
          <Link to="." search={at('0')}>
            From the start
          </Link>
        ) : (
          <Link to="." search={at(undefined)}>
            Newest
          </Link>
        )}
        {after !== undefined && next !== null && last !== undefined && (
          <Link to="." search={at(String(last))}>
            More
          </Link>
        )}
        <CopyCommand
          name="Copy as CLI"
          text={listCommand(`./muster session events ${shellWord(name)}`, EVENT_FILTERS, values)}
        />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}${path}`)} />
      </p>
    </section>
  );
}

const COLUMNS: readonly ListColumn<SessionEvent>[] = [
  { head: 'Event', cell: (event) => shownText(eventName(event)) },
  { head: 'Host', cell: ({ host }) => shownText(host ?? '') },
  { head: 'Result', cell: ({ result }) => shownText(textOf(result)) },
  { head: 'Message', cell: (event) => shownText(eventMessage(event)) },
  { head: 'Layer', cell: eventPlace },
  { head: 'Time', cell: ({ time }) => <Moment at={time} /> },
];
