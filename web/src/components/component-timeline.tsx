import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { TimelineEntry } from '../../../domain/audit/schema.ts';
import type { ComponentDetail } from '../../../domain/components/list-schema.ts';
import { callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { entryWords, FAILING_TYPES, lastFailure, type NamedSession, newestFirst } from './timeline.ts';

/** Entries that are read first, and when more are asked for. */
const [FIRST, MOST] = [50, 1_000];
/** Entries of each type among which the last failure is looked for. */
const FAILURES = 200;

interface TimelineAnswer {
  entries: TimelineEntry[];
  next: object | null;
}

function useTimeline(id: string, limit: number) {
  return useQuery({
    queryKey: ['component', id, 'timeline', limit],
    queryFn: ({ signal }) =>
      callApi<TimelineAnswer>(`${recordPath('components', id)}/timeline?limit=${limit}`, { signal }),
    placeholderData: (before) => before,
  });
}

/** What happened to a component, the newest first; also to one that was deleted. */
export function Timeline({ id }: { id: string }) {
  const [limit, setLimit] = useState(FIRST);
  const read = useTimeline(id, limit);
  const isUnknown = read.error instanceof Refusal && read.error.status === 404;
  const { entries, next } = read.data ?? { entries: [], next: null };
  return (
    <section aria-label="Timeline" aria-busy={read.isPending || undefined}>
      <h2>Timeline</h2>
      {read.isError && !isUnknown && <Failure error={read.error} retry={() => void read.refetch()} />}
      {(isUnknown || (read.data && entries.length === 0)) && <p>Nothing is known of it.</p>}
      <ol className="steps">
        {entries.map((entry) => {
          const { what, session } = entryWords(entry);
          return (
            <li key={entry.id}>
              <Moment at={entry.time} /> {shownText(what)} <OfSession session={session} />
            </li>
          );
        })}
      </ol>
      {next !== null &&
        (limit < MOST ? (
          <button type="button" onClick={() => setLimit(MOST)}>
            Show up to {MOST} entries
          </button>
        ) : (
          <p>
            There is more: <code>./muster component timeline {shownText(id)}</code> lists all of it.
          </p>
        ))}
    </section>
  );
}

/** Why a layer of it is not applied, in the words of what failed. Only what can have failed is asked for: a component has many changes. */
export function LastFailureOf({ component }: { component: ComponentDetail }) {
  const { id } = component;
  const read = useQuery({
    queryKey: ['component', id, 'failures'],
    queryFn: async ({ signal }) => {
      const path = `${recordPath('components', id)}/timeline?limit=${FAILURES}&type=`;
      const pages = await Promise.all(
        FAILING_TYPES.map((type) => callApi<TimelineAnswer>(`${path}${type}`, { signal })),
      );
      return newestFirst(pages.flatMap(({ entries }) => entries));
    },
    placeholderData: (before) => before,
  });
  const failure = read.data === undefined ? null : lastFailure(component, read.data);
  return (
    <section aria-label="Last failure" aria-busy={read.isPending || undefined}>
      <h2>Last failure</h2>
      {read.isError && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.isPending && <p>The timeline is read.</p>}
      {read.data && failure === null && <p>No layer of it has failed, or nothing says why.</p>}
      {failure !== null && (
        <p>
          <Moment at={failure.at} /> {shownText(failure.message)} <OfSession session={failure.session} />
        </p>
      )}
    </section>
  );
}

function OfSession({ session }: { session: NamedSession | null }) {
  if (session === null) return null;
  return (
    <Link to="/sessions/$name" params={{ name: session.name }} search={{ id: session.id }}>
      {`session ${shownText(session.name)}`}
    </Link>
  );
}
