import type { Session } from '../../../domain/sessions/schema.ts';
import { cell, tagCell, type View } from '../../output/columns.ts';
import { duration, timeOf } from '../../output/times.ts';

/** Time from start to end, or to `now` for one that runs. */
function lasted(session: Session, now: number): string {
  const { start_time, completion_time, status } = session.status.session;
  const start = timeOf(start_time);
  const end = timeOf(completion_time) ?? (status === 'complete' ? undefined : now);
  return start === undefined || end === undefined ? '' : duration(end - start);
}

/** `-`, `yes`, `no` or `unknown`. */
const success = (session: Session): string =>
  ({ true: 'yes', false: 'no', unknown: 'unknown' })[session.status.session.succeeded as string] ?? '-';

/** How sessions are listed; `now` in milliseconds since 1970. */
export const sessionView = (now: number): View<Session> => ({
  noun: 'sessions',
  name: (session) => session.name,
  columns: [
    { title: 'NAME', value: (session) => session.name },
    { title: 'CONFIGURATION', value: (session) => session.configuration.name },
    { title: 'STATUS', value: (session) => session.status.session.status },
    { title: 'SUCCEEDED', value: success },
    { title: 'TIME', value: (session) => lasted(session, now) },
    { title: 'MESSAGE', value: (session) => cell(session.status.session.message) },
    { title: 'LAYERS', value: (session) => session.configuration.limit, wide: true },
    { title: 'LIMIT', value: (session) => cell(session.ansible.limit), wide: true },
    { title: 'TARGET', value: (session) => session.target.definition, wide: true },
    { title: 'STARTED', value: (session) => cell(session.status.session.start_time), wide: true },
    { title: 'JOB', value: (session) => cell(session.status.session.job), wide: true },
    { title: 'TAGS', value: (session) => tagCell(session.tags), wide: true },
  ],
});
