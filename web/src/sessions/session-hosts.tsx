import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SessionDetail, SessionHost } from '../../../domain/sessions/detail-schema.ts';
import { callApi, recordPath } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { CopyView } from '../shared/ui/copy-view.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { shownText } from '../shared/ui/shown-text.ts';

/** Hosts that are shown at first, and when more are asked for. */
const [FIRST, MOST] = [100, 1_000];

export interface HostsAnswer {
  hosts: SessionHost[];
  next: object | null;
}

/** What each host reached; those that failed first, once the session is over. */
export function SessionHosts({ session: { name, hosts: counts, failures } }: { session: SessionDetail }) {
  const [limit, setLimit] = useState(FIRST);
  const path = `${recordPath('sessions', name)}/hosts?limit=${limit}`;
  const read = useQuery({
    queryKey: ['session', name, 'hosts', limit],
    queryFn: ({ signal }) => callApi<HostsAnswer>(path, { signal }),
    placeholderData: (before) => before,
  });
  if (read.isError) return <Failure error={read.error} retry={() => void read.refetch()} />;
  const { hosts, next } = read.data ?? { hosts: [], next: null };
  return (
    <>
      <p>
        {counts.applied} applied, {counts.failed} failed, {counts.incomplete} incomplete, {counts.not_reached} not
        reached
      </p>
      {failures.length > 0 && (
        <ul aria-label="Failures">
          {failures.map(({ message, count, hosts: names }) => (
            <li key={message}>
              {count} {count === 1 ? 'host' : 'hosts'} ({shownText(names.join(', '))}
              {count > names.length && ' and others'}): {shownText(message)}
            </li>
          ))}
        </ul>
      )}
      {read.data && hosts.length === 0 && <p>No host has a result yet.</p>}
      {hosts.length > 0 && (
        <table aria-label="Hosts" className="wide">
          <thead>
            <tr>
              <th scope="col">Host</th>
              <th scope="col">Result</th>
              <th scope="col">Layers</th>
              <th scope="col">Message</th>
            </tr>
          </thead>
          <tbody>
            {hosts.map((host) => (
              <Row key={host.host} host={host} />
            ))}
          </tbody>
        </table>
      )}
      {next !== null &&
        (limit < MOST ? (
          <button type="button" onClick={() => setLimit(MOST)}>
            Show up to {MOST} hosts
          </button>
        ) : (
          <p>
            There are more hosts: <code>./muster session hosts {shownText(name)}</code> lists all of them.
          </p>
        ))}
      <CopyView command={`./muster session hosts ${shellWord(name)}`} path={path} />
    </>
  );
}

function Row({ host: { host, result, layers } }: { host: SessionHost }) {
  const message = layers.find((layer) => layer.message !== null)?.message ?? '';
  return (
    <tr>
      <th scope="row">{shownText(host)}</th>
      <td className={result}>{result}</td>
      <td>{layers.map(({ layer, status }) => `${layer + 1} ${status}`).join(', ')}</td>
      <td>{shownText(message)}</td>
    </tr>
  );
}
