import type { SessionItem } from '../../../domain/sessions/detail-schema.ts';
import type { Session } from '../../../domain/sessions/schema.ts';
import { cell, tagCell, type View } from '../../output/columns.ts';
import { duration, timeOf } from '../../output/times.ts';

/** A record of CFS, or an entry of Muster's list, which knows its hosts. */
export type ListedSession = Session & { hosts?: Pick<SessionItem['hosts'], 'applied' | 'failed' | 'incomplete'> };

/** Milliseconds from start to end, or to `now` for one that runs. */
function lasted(session: Session, now: number): number | undefined {
  const { start_time, completion_time, status } = session.status.session;
  const start = timeOf(start_time);
  const end = timeOf(completion_time) ?? (status === 'complete' ? undefined : now);
  return start === undefined || end === undefined ? undefined : end - start;
}

/** Milliseconds since it was made. */
function age(session: Session, now: number): number | undefined {
  const start = timeOf(session.status.session.start_time);
  return start === undefined ? undefined : now - start;
}

const lengthText = (length: number | undefined): string => (length === undefined ? '' : duration(length));

/** Hosts that are well, and hosts that are not: `23/2`. */
function hostsText({ hosts }: ListedSession): string {
  if (hosts === undefined) return '';
  const { applied, failed, incomplete } = hosts;
  return applied + failed + incomplete === 0 ? '-' : `${applied}/${failed + incomplete}`;
}

/** `-`, `yes`, `no` or `unknown`. */
const success = (session: Session): string =>
  ({ true: 'yes', false: 'no', unknown: 'unknown' })[session.status.session.succeeded as string] ?? '-';

/** How sessions are listed; `now` in milliseconds since 1970. */
export const sessionView = (now: number): View<ListedSession> => ({
  noun: 'sessions',
  name: (session) => session.name,
  columns: [
    { title: 'NAME', value: (session) => session.name },
    { title: 'CONFIGURATION', value: (session) => session.configuration.name },
    { title: 'STATUS', value: (session) => session.status.session.status },
    { title: 'SUCCEEDED', value: success },
    {
      title: 'TIME',
      value: (session) => lengthText(lasted(session, now)),
      order: (session) => lasted(session, now) ?? -1,
    },
    { title: 'AGE', value: (session) => lengthText(age(session, now)), order: (session) => age(session, now) ?? -1 },
    {
      title: 'HOSTS',
      value: hostsText,
      order: ({ hosts }) => (hosts === undefined ? -1 : hosts.failed + hosts.incomplete),
    },
    { title: 'MESSAGE', value: (session) => cell(session.status.session.message) },
    { title: 'LAYERS', value: (session) => session.configuration.limit, wide: true },
    { title: 'LIMIT', value: (session) => cell(session.ansible.limit), wide: true },
    { title: 'TARGET', value: (session) => session.target.definition, wide: true },
    { title: 'STARTED', value: (session) => cell(session.status.session.start_time), wide: true },
    { title: 'JOB', value: (session) => cell(session.status.session.job), wide: true },
    { title: 'TAGS', value: (session) => tagCell(session.tags), wide: true },
  ],
});
