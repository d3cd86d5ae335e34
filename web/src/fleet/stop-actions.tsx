import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Fleet } from '../../../domain/fleet/schema.ts';
import type { StopAnswer } from '../../../domain/fleet/stop-schema.ts';
import type { SessionItem } from '../../../domain/sessions/detail-schema.ts';
import { actingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { apiBase, callApi, writeHeaders } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { useConnection } from '../shared/live/use-live.ts';
import { Action } from '../shared/ui/action.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { stopCounts } from './stop-text.ts';

/** Sessions that an effect names. */
const NAMED = 20;

/** *Stop everything*, and the way back. */
export function StopActions({ fleet: { stop, batcher } }: { fleet: Fleet }) {
  const { data: me } = useMe();
  const { state } = useConnection();
  const client = useQueryClient();
  const may = actingRefusal(me, state);
  const send = async (path: '/stop' | '/go', request: { reason: string; key: string }) => {
    const body = bodyOf(request.reason);
    const { counts } = await callApi<StopAnswer>(path, {
      method: 'POST',
      body,
      headers: writeHeaders({ ...request, reason: '' }),
    });
    await Promise.all([['fleet'], ['sessions']].map((queryKey) => client.invalidateQueries({ queryKey })));
    return stopCounts(counts);
  };
  const reasonWords = (reason: string) => (reason === '' ? '' : ` --reason ${shellWord(reason)}`);
  return (
    <div className="buttons">
      <Action
        name="Stop everything"
        refusal={may}
        needsReason
        effect={() => <StopEffect isPaused={batcher.paused_at !== null} />}
        send={async (request) => <>Everything is stopped: {await send('/stop', request)}.</>}
        cli={(reason) => `./muster stop --all --reason ${reason === '' ? 'TEXT' : shellWord(reason)}`}
        curl={(reason) => curlCommand('POST', `${apiBase()}/stop`, { reason: reason === '' ? 'TEXT' : reason })}
      />
      <Action
        name="Go"
        refusal={may ?? (stop.stopped ? null : 'Nothing is stopped')}
        isTold={!stop.stopped && may === null}
        effect={() => (
          <>
            <p>
              What was paused {stop.since !== null && <Moment at={stop.since} />}
              {stop.actor !== null && ` by ${shownText(stop.actor)}`} goes on ({shownText(stop.reason ?? '')}): batcher,
              rollouts, schedules, operators and deployments.
            </p>
            <p>0 sessions run again: what was cancelled stays so. What was paused by hand stays paused.</p>
            <p>There is no dry run of this.</p>
          </>
        )}
        send={async (request) => <>Everything goes on: {await send('/go', request)}.</>}
        cli={(reason) => `./muster go${reasonWords(reason)}`}
        curl={(reason) => curlCommand('POST', `${apiBase()}/go`, bodyOf(reason))}
      />
    </div>
  );
}

const bodyOf = (reason: string) => (reason === '' ? {} : { reason });

interface Found {
  sessions: SessionItem[];
  total: number;
}

/** The sessions that would be cancelled: how many, and the newest of them. */
function StopEffect({ isPaused }: { isPaused: boolean }) {
  const read = useQuery({
    queryKey: ['sessions', 'to-stop'],
    queryFn: async ({ signal }) => {
      const of = (status: string) =>
        callApi<Found>(`/sessions?status=${status}&order=newest&count=true&limit=${NAMED}`, { signal });
      return Promise.all([of('running'), of('pending')]);
    },
    gcTime: 0,
  });
  if (read.isError) return <Failure error={read.error} retry={() => void read.refetch()} />;
  if (read.data === undefined) return <p aria-busy="true">The effect is read.</p>;
  const [running, waiting] = read.data;
  const total = running.total + waiting.total;
  const names = [...running.sessions, ...waiting.sessions].slice(0, NAMED).map(({ name }) => name);
  return (
    <>
      <p>
        {total} {total === 1 ? 'session is' : 'sessions are'} cancelled ({running.total} running, {waiting.total}{' '}
        waiting)
        {names.length > 0 && `: ${names.map(shownText).join(', ')}`}
        {total > names.length && ` and ${total - names.length} others`}.
      </p>
      <p>
        {isPaused ? 'The batcher is paused already. ' : 'The batcher is paused. '}
        All schedules and operators are paused, rollouts and reconciles are stopped, and deployments begin nothing new.
        What playbooks do now is ended; what they did stays.
      </p>
      <p>There is no dry run of this.</p>
    </>
  );
}
