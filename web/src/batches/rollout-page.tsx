import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useId } from 'react';
import type { Rollout } from '../../../domain/batches/rollout-schema.ts';
import { apiBase, callApi } from '../shared/api-call.ts';
import { curlCommand } from '../shared/commands.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { DroppedNotice } from '../shared/ui/notice.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { RolloutDetails } from './rollout-details.tsx';
import { shareText } from './rollout-text.ts';
import { ROLLOUT_WORDS, type RolloutSearch } from './search.ts';

interface RolloutPageAnswer {
  rollouts: Rollout[];
  next: { after_id: number } | null;
}

/** How far changes of configurations have come, and why they have stopped. */
export function RolloutPage() {
  const { dropped, ...search } = useSearch({ from: '/rollouts' });
  const { configuration, ...filter } = search;
  const query = new URLSearchParams({ limit: '100' });
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value));
  const path = `/rollouts?${query}`;
  const queryKey = ['rollouts', 'list', path];
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) => callApi<RolloutPageAnswer>(path, { signal }),
    placeholderData: (before) => before,
  });
  useLive('rollouts', queryKey);
  return (
    <main aria-busy={list.isPending || undefined}>
      <title>Rollouts - Muster</title>
      <h1>Rollouts</h1>
      <DroppedNotice names={dropped} />
      {configuration !== undefined && <RolloutDetails key={configuration} configuration={configuration} />}
      <Filters search={search} />
      {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.data && <Found answer={list.data} search={search} />}
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text={`./muster rollout list${search.all === true ? ' --all' : ''}`} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}${path}`)} />
      </p>
    </main>
  );
}

function Filters({ search }: { search: RolloutSearch }) {
  const navigate = useNavigate({ from: '/rollouts' });
  const id = useId();
  const go = (change: RolloutSearch) => void navigate({ search: { ...search, after_id: undefined, ...change } });
  return (
    <form className="filters" onSubmit={(event) => event.preventDefault()}>
      <label htmlFor={`${id}-state`}>Status</label>
      <select
        id={`${id}-state`}
        value={search.state ?? ''}
        onChange={({ target }) => go({ state: ROLLOUT_WORDS.find((word) => word === target.value) })}
      >
        <option value="">any</option>
        {ROLLOUT_WORDS.map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
      <label htmlFor={`${id}-all`}>Also replaced ones</label>
      <input
        id={`${id}-all`}
        type="checkbox"
        checked={search.all === true}
        onChange={({ target }) => go({ all: target.checked || undefined })}
      />
    </form>
  );
}

function Found({ answer: { rollouts, next }, search }: { answer: RolloutPageAnswer; search: RolloutSearch }) {
  if (rollouts.length === 0) {
    const isNarrowed = search.state !== undefined || search.after_id !== undefined;
    return (
      <p>
        {isNarrowed
          ? 'No rollout matches the filter. '
          : 'There are no rollouts: a configuration with a rollout policy has one when its components are behind. '}
        {isNarrowed ? (
          <Link to="/rollouts">All current rollouts</Link>
        ) : (
          <Link to="/configurations">Configurations</Link>
        )}
      </p>
    );
  }
  return (
    <>
      <table aria-label="Rollouts" className="wide">
        <thead>
          <tr>
            <th scope="col">Rollout</th>
            <th scope="col">State</th>
            <th scope="col">Configured</th>
            <th scope="col">In sessions</th>
            <th scope="col">Failed</th>
            <th scope="col">Reason</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {rollouts.map((rollout) => (
            <tr key={rollout.id}>
              <th scope="row">
                <Link to="/rollouts" search={{ ...search, configuration: rollout.configuration }}>
                  {shownText(rollout.configuration)}
                </Link>
              </th>
              <td>{rollout.state === 'stopped' ? `stopped (${rollout.stage})` : rollout.state}</td>
              <td>{shareText(rollout)}</td>
              <td>{rollout.in_sessions}</td>
              <td>{rollout.failures}</td>
              <td>{rollout.reason === null ? '' : shownText(rollout.reason)}</td>
              <td>
                <Moment at={rollout.stopped_at ?? rollout.ended_at ?? rollout.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="buttons">
        {search.after_id !== undefined && (
          <Link to="/rollouts" search={{ ...search, after_id: undefined }}>
            Newest
          </Link>
        )}
        {next !== null && (
          <Link to="/rollouts" search={{ ...search, after_id: String(next.after_id) }}>
            Older
          </Link>
        )}
      </p>
    </>
  );
}
