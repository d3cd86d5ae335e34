import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';
import { callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { useLive } from '../shared/live/use-live.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { DroppedNotice } from '../shared/ui/notice.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { StatusBadge } from '../shared/ui/status-badge.tsx';
import { LogView } from './log/log-view.tsx';
import { SESSION_TABS, type SessionSearch } from './search.ts';
import { SessionActions } from './session-actions.tsx';
import { SessionEvents } from './session-events.tsx';
import { SessionHosts } from './session-hosts.tsx';
import { SessionLink } from './session-link.tsx';
import { SessionTimeline } from './session-timeline.tsx';
import { statusWord } from './status-word.ts';
import { stepsOf } from './steps.ts';

/** One session: how it stands and why, and what it did. */
export function SessionPage() {
  const { name } = useParams({ from: '/sessions/$name' });
  const { dropped, ...search } = useSearch({ from: '/sessions/$name' });
  // Of another session with the same name nothing may be shown as this one's.
  return <OneSession key={`${name} ${search.id ?? ''}`} name={name} search={search} dropped={dropped} />;
}

interface OneSessionProps {
  name: string;
  search: SessionSearch;
  dropped: string[] | undefined;
}

function OneSession({ name, search, dropped }: OneSessionProps) {
  const read = useQuery({
    queryKey: ['session', name, 'detail'],
    queryFn: ({ signal }) => callApi<SessionDetail>(recordPath('sessions', name), { signal }),
  });
  const session = read.data;
  // The one that is shown stays the same when its name becomes another's.
  const [firstId, setFirstId] = useState<string | null>(search.id ?? null);
  useEffect(() => {
    if (firstId === null && session !== undefined) setFirstId(session.id);
  }, [firstId, session]);
  useLive(firstId === null ? null : `session:${firstId}`, ['session', name]);

  const isGone = read.error instanceof Refusal && read.error.status === 404;
  const isReplaced = session !== undefined && firstId !== null && session.id !== firstId;
  // A session that is gone has no news; another one may get its name.
  useLive(isGone ? 'sessions' : null, ['session', name]);
  return (
    <main aria-busy={read.isPending || undefined}>
      <title>{`Session ${shownText(name)} - Muster`}</title>
      <h1>Session {shownText(name)}</h1>
      <DroppedNotice names={dropped} />
      {isGone && <Gone name={name} />}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {isReplaced && !isGone && <Replaced session={session} />}
      {session && !isGone && !isReplaced && <Shown session={session} search={search} />}
    </main>
  );
}

function Gone({ name }: { name: string }) {
  return (
    <p>
      There is no session {shownText(name)}: it was deleted, or there was none. The audit has who deleted it:{' '}
      <code>./muster audit list --kind session</code>. <Link to="/sessions">All sessions</Link>
    </p>
  );
}

function Replaced({ session: { id, name } }: { session: SessionDetail }) {
  return (
    <p>
      This session was replaced: another one has its name now.{' '}
      <Link to="/sessions/$name" params={{ name }} search={{ id }}>
        Session {shownText(name)}
      </Link>
    </p>
  );
}

const TAB_NAMES: Readonly<Record<(typeof SESSION_TABS)[number], string>> = {
  ...{ hosts: 'Hosts', log: 'Log', events: 'Events', timeline: 'Timeline' },
};

function Shown({ session, search }: { session: SessionDetail; search: SessionSearch }) {
  const { name } = session;
  const { tab = 'hosts' } = search;
  return (
    <>
      <Summary session={session} />
      <SessionActions session={session} />
      <Steps session={session} />
      <div role="tablist" aria-label="Session">
        {SESSION_TABS.map((word) => (
          <Link
            key={word}
            role="tab"
            id={`tab-${word}`}
            aria-selected={word === tab}
            aria-controls="tab-panel"
            to="/sessions/$name"
            params={{ name }}
            search={{ id: session.id, tab: word }}
          >
            {TAB_NAMES[word]}
          </Link>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
        {tab === 'hosts' && <SessionHosts session={session} />}
        {tab === 'log' && <LogView session={session} search={search} />}
        {tab === 'events' && <SessionEvents session={session} search={search} />}
        {tab === 'timeline' && <SessionTimeline session={session} />}
      </div>
    </>
  );
}

function Summary({ session }: { session: SessionDetail }) {
  const { configuration, ansible, queue, actor, retry_of: of, retried_by: by, cancel } = session;
  return (
    <>
      <p className="reason">
        <StatusBadge word={statusWord(session)} /> {shownText(session.status.session.message)}{' '}
        <span className="quiet">
          (<Moment at={session.updated_at} />
          {queue !== null && `, place ${queue.place} in the line`})
        </span>
      </p>
      <dl>
        <dt>Configuration</dt>
        <dd>{shownText(configuration.name)}</dd>
        <dt>Limit</dt>
        <dd>{ansible.limit ? shownText(ansible.limit) : 'none'}</dd>
        <dt>Made</dt>
        <dd>
          <Moment at={session.created_at} />
          {actor !== null && ` by ${shownText(actor)}`}
        </dd>
        <dt>Attempts</dt>
        <dd>{session.attempt}</dd>
        {cancel !== null && (
          <>
            <dt>Cancel</dt>
            <dd>
              <Moment at={cancel.requested_at} />
              {cancel.actor !== null && ` by ${shownText(cancel.actor)}`}, {shownText(cancel.reason)}
            </dd>
          </>
        )}
        {of !== null && (
          <>
            <dt>Retry of</dt>
            <dd>
              <SessionLink {...of} />
            </dd>
          </>
        )}
        {by.length > 0 && (
          <>
            <dt>Retried by</dt>
            <dd>
              {by.map((one) => (
                <SessionLink key={one.id} {...one} />
              ))}
            </dd>
          </>
        )}
      </dl>
    </>
  );
}

function Steps({ session }: { session: SessionDetail }) {
  return (
    <section aria-label="Steps">
      <h2>Steps</h2>
      <ol className="steps">
        {stepsOf(session).map(({ name, state, at, reason }) => (
          <li
            key={name}
            className={state === 'to come' ? 'quiet' : state}
            aria-current={state === 'now' ? 'step' : undefined}
          >
            {shownText(name)}: {state}
            {at !== null && (
              <>
                {' '}
                <Moment at={at} />
              </>
            )}
            {reason !== '' && `, ${shownText(reason)}`}
          </li>
        ))}
      </ol>
    </section>
  );
}
