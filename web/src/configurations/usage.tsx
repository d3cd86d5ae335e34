import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ConfigurationUsage } from '../../../domain/configurations/history-schema.ts';
import { callApi, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyView } from '../shared/ui/copy-view.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { StatusBadge } from '../shared/ui/status-badge.tsx';
import { CONFIGURATIONS } from './reads.ts';

/** What says that the counts may be others; the configuration itself is followed by its page. */
const TOPICS = ['components', 'sessions', 'schedules'] as const;
const STATUSES = ['configured', 'pending', 'failed', 'unconfigured'] as const;

/** What uses a configuration. */
export function Usage({ name }: { name: string }) {
  const queryKey = [CONFIGURATIONS, name, 'usage'];
  const path = `${recordPath('configurations', name)}/usage`;
  const read = useQuery({
    queryKey,
    queryFn: ({ signal }) => callApi<ConfigurationUsage>(path, { signal }),
  });
  useLive(TOPICS[0], queryKey);
  useLive(TOPICS[1], queryKey);
  useLive(TOPICS[2], queryKey);
  if (read.isError) return <Failure error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return <p aria-busy="true">What uses it is read.</p>;
  const { components, schedules, sessions } = read.data;
  return (
    <>
      <p>
        {components.total} {components.total === 1 ? 'component wants' : 'components want'} it
        {components.disabled > 0 && `, ${components.disabled} of them disabled`}.
      </p>
      <table aria-label="Components by status">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Components</th>
          </tr>
        </thead>
        <tbody>
          {STATUSES.map((word) => (
            <tr key={word}>
              <th scope="row">
                <StatusBadge word={word} />
              </th>
              <td>{components.by_status[word]}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Users title="Schedules" users={schedules} none="No schedule names it." />
      <section aria-label="Sessions that have not ended">
        <h2>Sessions that have not ended</h2>
        {sessions.count === 0 && <p>There are none.</p>}
        <ul>
          {sessions.names.map((session) => (
            <li key={session}>
              <Link to="/sessions/$name" params={{ name: session }}>
                {shownText(session)}
              </Link>
            </li>
          ))}
        </ul>
        <Rest users={sessions} />
      </section>
      <p className="buttons">
        <Link to="/rollouts" search={{ configuration: name }}>
          Its rollout
        </Link>
        <Link to="/drift" search={{ config_name: name }}>
          Its drift
        </Link>
      </p>
      <CopyView command={`./muster api GET ${shellWord(`/api/v1${path}`)}`} path={path} />
    </>
  );
}

function Users({ title, users, none }: { title: string; users: ConfigurationUsage['schedules']; none: string }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {users.count === 0 && <p>{none}</p>}
      <ul>
        {users.names.map((user) => (
          <li key={user}>{shownText(user)}</li>
        ))}
      </ul>
      <Rest users={users} />
    </section>
  );
}

function Rest({ users: { count, names } }: { users: ConfigurationUsage['schedules'] }) {
  return count > names.length ? <p>and {count - names.length} more</p> : null;
}
