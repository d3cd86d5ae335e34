import { useQuery } from '@tanstack/react-query';
import type { OperatorView, OperatorWatchView } from '../../../domain/operator/view-schema.ts';
import { callApi } from '../shared/api-call.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { kindOf } from './resource-text.ts';

/** Operators with their processes, and the kinds that they watch; `operator`: of this one alone. */
export function Operators({ operator }: { operator: string | undefined }) {
  const query = operator === undefined ? '' : `?${new URLSearchParams({ operator })}`;
  const operators = useQuery({
    queryKey: ['operator', 'operators'],
    queryFn: ({ signal }) => callApi<{ operators: OperatorView[] }>('/operator', { signal }),
  });
  const watches = useQuery({
    queryKey: ['operator', 'watches', query],
    queryFn: ({ signal }) => callApi<{ watches: OperatorWatchView[] }>(`/operator/watches${query}`, { signal }),
  });
  useLive('operator', ['operator', 'operators']);
  useLive('operator', ['operator', 'watches', query]);
  return (
    <>
      <Part title="Operators" read={operators}>
        {({ operators: all }) => (
          <Rows
            name="Operators"
            columns={OPERATOR_COLUMNS}
            rows={all.filter(({ name }) => operator === undefined || name === operator)}
            keyOf={({ name }) => name}
            none="No operator has started yet."
          />
        )}
      </Part>
      <Part title="Watches" read={watches}>
        {({ watches: all }) => (
          <Rows
            name="Watches"
            columns={WATCH_COLUMNS}
            rows={all}
            keyOf={(watch) => `${watch.operator} ${kindOf(watch)}`}
            none="No kind is watched."
          />
        )}
      </Part>
    </>
  );
}

const OPERATOR_COLUMNS: readonly ListColumn<OperatorView>[] = [
  { head: 'Operator', cell: ({ name }) => shownText(name) },
  { head: 'Version', cell: ({ version }) => shownText(version) },
  { head: 'Watcher', cell: ({ watcher }) => (watcher === null ? 'no process watches' : shownText(watcher)) },
  {
    head: 'Processes',
    cell: ({ hosts }) =>
      hosts.length === 0 ? (
        'none'
      ) : (
        <ul>
          {hosts.map(({ host, live, slots, seen_at, database, engine }) => (
            <li key={host}>
              {shownText(host)}: {live ? 'live' : 'away'}, {slots} {slots === 1 ? 'slot' : 'slots'}, seen{' '}
              <Moment at={seen_at} />
              {[database, engine].map(({ ok, reason }) => !ok && reason !== null && `, ${shownText(reason)}`)}
            </li>
          ))}
        </ul>
      ),
  },
];

const WATCH_COLUMNS: readonly ListColumn<OperatorWatchView>[] = [
  { head: 'Kind', cell: (watch) => shownText(kindOf(watch)) },
  { head: 'State', cell: ({ state }) => state },
  { head: 'Reason', cell: ({ reason }) => shownText(reason ?? '') },
  { head: 'At once', cell: ({ slots }) => slots },
  { head: 'Finalizer', cell: ({ finalizer }) => shownText(finalizer ?? 'none') },
  {
    head: 'Dependents',
    cell: ({ dependents }) => shownText([...new Set(dependents.map(({ kind }) => kind))].join(', ')),
  },
  { head: 'Operator', cell: ({ operator }) => shownText(operator) },
];
