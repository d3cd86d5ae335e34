import { useQuery } from '@tanstack/react-query';
import type { SessionEvent } from '../../../domain/runs/stream-schema.ts';
import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';
import { callApi, isRefusal, recordPath, serverNow } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { CopyView } from '../shared/ui/copy-view.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { type HostTime, lastedText, type Span, slowestHosts, stepSpans, taskSpans, wholeOf } from './session-times.ts';
import { useReplaced } from './use-replaced.ts';

/** Events that are read of each kind: a session may have very many. */
const [TASKS, RESULTS] = [500, 1_000];
/** How often they are read while the session goes on, ms. */
const AGAIN_MS = 10_000;
/** Hosts that are shown. */
const SLOWEST = 10;

interface EventsAnswer {
  events: SessionEvent[];
  next: object | null;
}

const eventsPath = ({ name, id }: Pick<SessionDetail, 'name' | 'id'>, type: string, limit: number) =>
  `${recordPath('sessions', name)}/events?id=${id}&type=${type}&limit=${limit}`;

/** They are many: read from time to time while more may come, and once when the session has ended. News of the session do not reach their key. */
function useEvents({ name, id, ended_at }: SessionDetail, type: string, limit: number) {
  const isOpen = ended_at === null;
  const path = eventsPath({ name, id }, type, limit);
  const read = useQuery<EventsAnswer>({
    queryKey: ['session-events', id, type, limit, isOpen],
    queryFn: ({ signal }) => callApi<EventsAnswer>(path, { signal }),
    placeholderData: (before) => before,
    ...(isOpen ? { refetchInterval: untilFull } : {}),
  });
  useReplaced(name, read.error);
  return read;
}

/** There are no more of the first events once others follow them. */
const untilFull = ({ state: { data, error } }: { state: { data: EventsAnswer | undefined; error: unknown } }) =>
  isRefusal(error) || (data !== undefined && data.next !== null) ? false : AGAIN_MS;

/** Where the time of a session went: its steps, its tasks, its slowest hosts. */
export function SessionTimeline({ session }: { session: SessionDetail }) {
  const { attempts } = session;
  const command = `./muster session events ${shellWord(session.name)} --type`;
  const tasks = useEvents(session, 'task_start', TASKS);
  const results = useEvents(session, 'host_result', RESULTS);
  const now = serverNow();
  const whole = wholeOf(session, now);
  return (
    <>
      <Rows
        name="Times of steps"
        columns={columnsOf('Step', whole)}
        rows={stepSpans(session, now)}
        keyOf={({ key }) => key}
        none=""
      />
      <Part title="Tasks" read={tasks}>
        {({ events, next }) => (
          <>
            <Rows
              name="Times of tasks"
              columns={columnsOf('Task', whole)}
              rows={taskSpans(events, attempts, now)}
              keyOf={({ key }) => key}
              none="No task has begun yet."
            />
            {next !== null && <p>These are the first {TASKS} tasks: there are more.</p>}
            <CopyView command={`${command} task_start`} path={eventsPath(session, 'task_start', TASKS)} />
          </>
        )}
      </Part>
      <Part title="Slowest hosts" read={results}>
        {({ events, next }) => (
          <>
            <Rows
              name="Slowest hosts"
              columns={HOST_COLUMNS}
              rows={slowestHosts(events, SLOWEST)}
              keyOf={({ host }) => host}
              none="No host has a result yet."
            />
            {next !== null && <p>They are of the first {RESULTS} results: there are more.</p>}
            <CopyView command={`${command} host_result`} path={eventsPath(session, 'host_result', RESULTS)} />
          </>
        )}
      </Part>
    </>
  );
}

const HOST_COLUMNS: readonly ListColumn<HostTime>[] = [
  { head: 'Host', cell: ({ host }) => shownText(host) },
  { head: 'Tasks', cell: ({ tasks }) => tasks },
  { head: 'Together', cell: ({ seconds }) => lastedText(seconds * 1_000) },
];

function columnsOf(head: string, whole: Span): ListColumn<Span>[] {
  return [
    { head, cell: ({ name }) => shownText(name) },
    { head: 'Began', cell: ({ from }) => <Moment at={new Date(from).toISOString()} /> },
    {
      head: 'Lasted',
      cell: ({ from, until, isOpen }) => `${lastedText(until - from)}${isOpen ? ' so far' : ''}`,
    },
    { head: 'When', cell: (span) => <Bar span={span} whole={whole} /> },
  ];
}

/** Where a part lies in the whole. The columns beside it say the same. */
function Bar({ span: { from, until }, whole }: { span: Span; whole: Span }) {
  const length = Math.max(1, whole.until - whole.from);
  const share = (time: number) => Math.min(100, Math.max(0, ((time - whole.from) / length) * 100));
  const begin = Math.min(99, share(from));
  return (
    <svg className="span" aria-hidden="true">
      <rect x={`${begin}%`} width={`${Math.max(1, share(until) - begin)}%`} height="100%" />
    </svg>
  );
}
