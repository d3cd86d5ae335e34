import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { RolloutDetail } from '../../../domain/batches/rollout-schema.ts';
import { actingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { apiBase, callApi, Refusal, recordPath, writeHeaders } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { useConnection, useLive } from '../shared/live/use-live.ts';
import { Action } from '../shared/ui/action.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { policyText, resumeRefusal, shareText, stopRefusal } from './rollout-text.ts';

/** Canaries that are named at most. */
const NAMED = 20;

/** The rollout that a configuration has now. */
export function RolloutDetails({ configuration }: { configuration: string }) {
  const path = recordPath('rollouts', configuration);
  const queryKey = ['rollouts', 'one', configuration];
  const read = useQuery({ queryKey, queryFn: ({ signal }) => callApi<RolloutDetail>(path, { signal }) });
  useLive('rollouts', queryKey);
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  return (
    <section aria-label={`Rollout ${shownText(configuration)}`} aria-busy={read.isPending || undefined}>
      <h2>Rollout of {shownText(configuration)}</h2>
      {isGone && (
        <p>
          Configuration {shownText(configuration)} has no rollout now: it has no rollout policy, or none of its
          components is behind.{' '}
          <Link to="/rollouts" search={{ all: true }}>
            All rollouts
          </Link>
        </p>
      )}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && !isGone && <Details rollout={read.data} />}
    </section>
  );
}

function Details({ rollout }: { rollout: RolloutDetail }) {
  const { configuration, state, stage, reason, canaries, stopped_at, stopped_by, resumed_at, resumed_by } = rollout;
  return (
    <>
      <dl>
        <dt>State</dt>
        <dd>
          {state === 'stopped' ? `stopped (${stage})` : state}
          {reason !== null && `: ${shownText(reason)}`}
        </dd>
        <dt>Configured</dt>
        <dd>
          <progress aria-label="Configured" max={Math.max(1, rollout.components)} value={rollout.configured} />{' '}
          {shareText(rollout)}
        </dd>
        <dt>Pending</dt>
        <dd>
          {rollout.pending}, {rollout.in_sessions} of them in sessions
        </dd>
        <dt>Failed</dt>
        <dd>
          {rollout.failures} in this rollout, {rollout.failed} without tries left
        </dd>
        <dt>Policy</dt>
        <dd>{shownText(policyText(rollout.policy))}</dd>
        <dt>Canaries</dt>
        <dd>
          {canaries.length === 0 ? 'none' : shownText(canaries.slice(0, NAMED).join(', '))}
          {canaries.length > NAMED && ` and ${canaries.length - NAMED} others`}
        </dd>
        <dt>Begun</dt>
        <dd>
          <Moment at={rollout.created_at} />
        </dd>
        {stopped_at !== null && (
          <>
            <dt>Stopped</dt>
            <dd>
              <Moment at={stopped_at} />
              {stopped_by !== null && ` by ${shownText(stopped_by)}`}
            </dd>
          </>
        )}
        {resumed_at !== null && (
          <>
            <dt>Resumed</dt>
            <dd>
              <Moment at={resumed_at} />
              {resumed_by !== null && ` by ${shownText(resumed_by)}`}
            </dd>
          </>
        )}
        <dt>Configuration</dt>
        <dd>
          <Link to="/configurations/$name" params={{ name: configuration }}>
            {shownText(configuration)}
          </Link>
        </dd>
      </dl>
      <Commands rollout={rollout} />
    </>
  );
}

function Commands({ rollout }: { rollout: RolloutDetail }) {
  const { data: me } = useMe();
  const { state } = useConnection();
  const client = useQueryClient();
  const may = actingRefusal(me, state);
  const path = recordPath('rollouts', rollout.configuration);
  const command = (word: 'stop' | 'resume', bodyFor: (reason: string) => object | undefined) => ({
    request: { method: 'POST' as const, path: `/api/v1${path}/${word}`, body: bodyFor('') },
    send: async (request: { reason: string; key: string }) => {
      const body = bodyFor(request.reason);
      await callApi(`${path}/${word}`, { method: 'POST', body, headers: writeHeaders(request) });
      await client.invalidateQueries({ queryKey: ['rollouts'] });
      return <>The rollout is {word === 'stop' ? 'stopped: sessions that run go on' : 'going on'}.</>;
    },
    cli: (reason: string) =>
      `./muster rollout ${word} ${shellWord(rollout.configuration)}${reason === '' ? '' : ` --reason ${shellWord(reason)}`}`,
    curl: (reason: string) => curlCommand('POST', `${apiBase()}${path}/${word}`, bodyFor(reason), reason),
  });
  return (
    <div className="buttons">
      <Action
        name="Stop"
        refusal={may ?? stopRefusal(rollout)}
        {...command('stop', (reason) => (reason === '' ? {} : { reason }))}
      />
      <Action
        name="Resume"
        refusal={may ?? resumeRefusal(rollout)}
        effect={() => <p>Failures so far are forgiven.</p>}
        {...command('resume', () => undefined)}
      />
    </div>
  );
}
