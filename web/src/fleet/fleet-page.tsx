import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { Fleet } from '../../../domain/fleet/schema.ts';
import type { SessionItem } from '../../../domain/sessions/detail-schema.ts';
import { COMPONENT_STATUSES, type ComponentFilters } from '../components/search.ts';
import { callApi } from '../shared/api-call.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyView } from '../shared/ui/copy-view.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { DroppedNotice } from '../shared/ui/notice.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { StatusBadge, type StatusWord } from '../shared/ui/status-badge.tsx';
import { NeedsAttention } from './attention.tsx';
import { FleetGrid } from './fleet-grid.tsx';
import { StopActions } from './stop-actions.tsx';
import { ThroughputPanel } from './throughput.tsx';

/** Is the fleet right? */
export function FleetPage() {
  const { group, dropped } = useSearch({ from: '/' });
  const fleet = useQuery({
    queryKey: ['fleet'],
    queryFn: ({ signal }) => callApi<Fleet>('/fleet', { signal }),
  });
  useLive('fleet', ['fleet']);
  return (
    <main className="fleet" aria-busy={fleet.isPending || undefined}>
      <title>Fleet - Muster</title>
      <h1>Fleet</h1>
      <DroppedNotice names={dropped} />
      {fleet.isError && <Failure error={fleet.error} retry={() => void fleet.refetch()} />}
      {fleet.data && <Counts fleet={fleet.data} />}
      <div className="beside">
        <NeedsAttention />
        <Running />
      </div>
      <FleetGrid key={group ?? ''} group={group} />
      <ThroughputPanel />
    </main>
  );
}

function Counts({ fleet }: { fleet: Fleet }) {
  const { by_status: counts, disabled, stop, total } = fleet;
  const rows: [StatusWord, number][] = [
    ['configured', counts.configured],
    ['pending', counts.pending],
    ['failed', counts.failed],
    ['unconfigured', counts.unconfigured],
    ['disabled', disabled],
  ];
  return (
    <div className="counts">
      {stop.stopped && (
        <p role="status">
          Everything is stopped{stop.complete ? '' : ' in part'} since{' '}
          {stop.since !== null && <Moment at={stop.since} />}
          {stop.actor !== null && ` by ${shownText(stop.actor)}`}: {shownText(stop.reason ?? '')}
        </p>
      )}
      <StopActions fleet={fleet} />
      <table aria-label="Counts">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Components</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([word, count]) => (
            <tr key={word}>
              <th scope="row">
                <StatusBadge word={word} />
              </th>
              <td>
                <Link to="/components" search={linkOf(word)} aria-label={`${count} ${word}`}>
                  {count}
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p>
        {total} components, read at{' '}
        <time dateTime={fleet.as_of}>{new Date(fleet.as_of).toLocaleTimeString('en-GB')}</time>
      </p>
      <CopyView command="./muster fleet" path="/fleet" />
      {total === 0 && (
        <p>
          There are no components yet. <code>./muster component apply -f FILE</code> makes them.
        </p>
      )}
    </div>
  );
}

/** The filter of the list that shows what a row counts. */
function linkOf(word: StatusWord): ComponentFilters {
  return word === 'disabled' ? { enabled: false } : { status: COMPONENT_STATUSES.find((status) => status === word) };
}

const RUNNING = ['sessions', 'running'];
const RUNNING_PATH = '/sessions?status=running&order=newest&limit=5';

/** Up to five sessions that run now, the newest first. */
function Running() {
  const read = useQuery({
    queryKey: RUNNING,
    queryFn: ({ signal }) => callApi<{ sessions: SessionItem[] }>(RUNNING_PATH, { signal }),
  });
  useLive('sessions', RUNNING);
  if (read.isError) return <Failure error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return null;
  if (read.data.sessions.length === 0) return <p>No session runs now.</p>;
  return (
    <table aria-label="Running" className="wide">
      <thead>
        <tr>
          <th scope="col">Session</th>
          <th scope="col">Reason</th>
        </tr>
      </thead>
      <tbody>
        {read.data.sessions.map(({ id, name, status: { session } }) => (
          <tr key={id}>
            <th scope="row">
              <Link to="/sessions/$name" params={{ name }} search={{ id }}>
                {shownText(name)}
              </Link>
            </th>
            <td>{shownText(session.message)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
