import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { SessionDetail } from '../../../domain/sessions/detail-schema.ts';
import { actingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { apiBase, callApi, recordPath, writeHeaders } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { useConnection } from '../shared/live/use-live.ts';
import { Action, type ActionRequest } from '../shared/ui/action.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { RunAgain } from './run-again.tsx';
import type { HostsAnswer } from './session-hosts.tsx';
import { SessionLink } from './session-link.tsx';

/** Names that an effect tells at most. */
const NAMED = 20;

/** What can be done with a session. */
export function SessionActions({ session }: { session: SessionDetail }) {
  const { data: me } = useMe();
  const { state } = useConnection();
  const client = useQueryClient();
  const { name, phase, hosts } = session;
  const may = actingRefusal(me, state);
  const isOver = session.status.session.status === 'complete';
  const isHeld = phase === 'hold';
  const path = recordPath('sessions', name);

  const send = async (command: string, body: object, request: ActionRequest) => {
    const headers = writeHeaders(request);
    const answer = await callApi<SessionDetail>(`${path}/${command}`, { method: 'POST', body, headers });
    await client.invalidateQueries({ queryKey: ['session', name] });
    await client.invalidateQueries({ queryKey: ['sessions'] });
    return answer;
  };
  const curl = (command: string, body: object, reason = '') =>
    curlCommand('POST', `${apiBase()}${path}/${command}`, body, reason);
  const rehearsed = (command: string, body: object) =>
    ({ method: 'POST', path: `/api/v1${path}/${command}`, body }) as const;
  const retry = (which: 'all' | 'failed') => ({
    request: rehearsed('retry', { hosts: which }),
    send: async (request: ActionRequest) => {
      const made = await send('retry', { hosts: which }, request);
      return made.id === session.id ? (
        <>The session goes on with attempt {made.attempt}.</>
      ) : (
        <>
          Session <SessionLink id={made.id} name={made.name} /> was made.
        </>
      );
    },
    cli: (reason: string) => `./muster session retry ${shellWord(name)} --hosts ${which}${reasonWords(reason)}`,
    curl: (reason: string) => curl('retry', { hosts: which }, reason),
  });
  const notOver = isOver || isHeld ? null : 'The session has not ended';
  const failed = hosts.failed + hosts.incomplete + hosts.not_reached;
  return (
    <div className="buttons">
      <Action
        name="Cancel"
        refusal={may ?? (isOver ? 'The session has ended' : null)}
        // Its reason changes nothing of what it does, and the dialog does not ask again for each letter of it.
        request={rehearsed('cancel', {})}
        effect={() => <p>1 session: {shownText(name)}. What its playbooks do now is ended; what they did stays.</p>}
        send={async (request) => {
          await send('cancel', request.reason === '' ? {} : { reason: request.reason }, request);
          return <>The session is asked to end.</>;
        }}
        cli={(reason) => `./muster session cancel ${shellWord(name)}${reasonWords(reason)}`}
        curl={(reason) => curl('cancel', reason === '' ? {} : { reason })}
      />
      <Action
        name="Retry failed hosts"
        refusal={may ?? notOver ?? (failed === 0 ? 'No host failed' : null)}
        effect={() => <FailedHosts session={session} count={failed} />}
        {...retry('failed')}
      />
      <Action
        name="Retry all hosts"
        refusal={may ?? notOver}
        effect={() => (
          <p>1 session: {shownText(name)}, on all of its hosts, from the first layer that did not end well.</p>
        )}
        {...retry('all')}
      />
      <Action
        name="Finish debug"
        refusal={may ?? (isHeld ? null : 'The session is not held')}
        request={rehearsed('finish-debug', {})}
        effect={() => <p>1 session: {shownText(name)}. Its hold ends, and its workspace goes.</p>}
        send={async (request) => {
          await send('finish-debug', {}, request);
          return <>The hold ends.</>;
        }}
        cli={(reason) => `./muster session finish-debug ${shellWord(name)}${reasonWords(reason)}`}
        curl={(reason) => curl('finish-debug', {}, reason)}
      />
      <RunAgain session={session} refusal={may} />
    </div>
  );
}

const reasonWords = (reason: string) => (reason === '' ? '' : ` --reason=${shellWord(reason)}`);

/** Hosts that did not succeed: their number, and up to 20 of their names. */
function FailedHosts({ session: { name }, count }: { session: SessionDetail; count: number }) {
  const read = useQuery({
    queryKey: ['session', name, 'failed-hosts'],
    queryFn: ({ signal }) =>
      callApi<HostsAnswer>(`${recordPath('sessions', name)}/hosts?order=result&limit=${NAMED}`, { signal }),
  });
  const names = (read.data?.hosts ?? []).filter(({ result }) => result !== 'applied').map(({ host }) => host);
  return (
    <p aria-busy={read.isPending || undefined}>
      {count} {count === 1 ? 'host' : 'hosts'}: {shownText(names.join(', '))}
      {count > names.length && !read.isPending && ', and others'}.
    </p>
  );
}
