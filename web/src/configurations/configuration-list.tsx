import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useId } from 'react';
import type { Configuration } from '../../../domain/configurations/schema.ts';
import { apiBase, callApi } from '../shared/api-call.ts';
import { curlCommand } from '../shared/commands.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { DroppedNotice } from '../shared/ui/notice.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { Editor } from './editor.tsx';
import { CONFIGURATIONS } from './reads.ts';
import type { ConfigurationListSearch } from './search.ts';
import { type DesiredCount, shareText } from './share-text.ts';

/** Configurations of one page of the list. */
const PAGE = 100;

interface ConfigurationPageAnswer {
  configurations: Configuration[];
  next: { after_id: string } | null;
}

/** What is wanted, in the order of names. */
export function ConfigurationListPage() {
  const { dropped, new: isNew = false, ...search } = useSearch({ from: '/configurations' });
  const query = new URLSearchParams({ limit: String(PAGE) });
  for (const [name, value] of Object.entries(search)) if (value !== undefined) query.set(name, String(value));
  const path = `/configurations?${query}`;
  const queryKey = [CONFIGURATIONS, 'list', path];
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) => callApi<ConfigurationPageAnswer>(path, { surface: '/v3', signal }),
    placeholderData: (before) => before,
  });
  useLive(CONFIGURATIONS, queryKey);
  return (
    <main aria-busy={list.isPending || undefined}>
      <title>Configurations - Muster</title>
      <h1>Configurations</h1>
      <DroppedNotice names={dropped} />
      {isNew ? <NewConfiguration search={search} /> : <Filters search={search} />}
      {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.data && <Found answer={list.data} search={search} />}
      <p className="buttons">
        <CopyCommand
          name="Copy as CLI"
          text={`./muster configuration list${search.in_use === true ? ' --in-use' : ''}`}
        />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase('/v3')}${path}`)} />
      </p>
    </main>
  );
}

function NewConfiguration({ search }: { search: ConfigurationListSearch }) {
  return (
    <section aria-label="New configuration">
      <h2>New configuration</h2>
      <Editor stored={null} />
      <p>
        <Link to="/configurations" search={search}>
          Close the form
        </Link>
      </p>
    </section>
  );
}

function Filters({ search }: { search: ConfigurationListSearch }) {
  const navigate = useNavigate({ from: '/configurations' });
  const id = useId();
  const inUse = search.in_use === undefined ? '' : String(search.in_use);
  return (
    <form className="filters" onSubmit={(event) => event.preventDefault()}>
      <label htmlFor={id}>Use</label>
      <select
        id={id}
        value={inUse}
        onChange={({ target: { value } }) =>
          void navigate({ search: { in_use: value === '' ? undefined : value === 'true' } })
        }
      >
        <option value="">any</option>
        <option value="true">in use</option>
        <option value="false">not in use</option>
      </select>
      <button type="button" onClick={() => void navigate({ search: { ...search, new: true } })}>
        New configuration
      </button>
    </form>
  );
}

function Found({ answer, search }: { answer: ConfigurationPageAnswer; search: ConfigurationListSearch }) {
  const { configurations, next } = answer;
  const counts = useQuery({
    queryKey: ['fleet'],
    queryFn: ({ signal }) => callApi<{ by_configuration: DesiredCount[] }>('/fleet', { signal }),
    refetchInterval: 10_000,
  });
  if (configurations.length === 0) {
    const isNarrowed = search.in_use !== undefined || search.after_id !== undefined;
    return (
      <p>
        {isNarrowed ? 'No configuration matches the filter. ' : 'There are no configurations yet. '}
        {isNarrowed ? (
          <Link to="/configurations">All configurations</Link>
        ) : (
          <code>./muster configuration apply -f FILE</code>
        )}
      </p>
    );
  }
  return (
    <>
      <table aria-label="Configurations" className="wide">
        <thead>
          <tr>
            <th scope="col">Configuration</th>
            <th scope="col">Layers</th>
            <th scope="col">Configured</th>
            <th scope="col">Rollout policy</th>
            <th scope="col">Written</th>
          </tr>
        </thead>
        <tbody>
          {configurations.map(({ name, layers, muster, last_updated }) => (
            <tr key={name}>
              <th scope="row">
                <Link to="/configurations/$name" params={{ name }}>
                  {shownText(name)}
                </Link>
              </th>
              <td>{layers.length}</td>
              <td>{counts.isError ? 'not known' : shareText(name, counts.data?.by_configuration)}</td>
              <td>{muster?.rollout === undefined ? 'none' : 'yes'}</td>
              <td>
                <Moment at={last_updated} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="buttons">
        {search.after_id !== undefined && (
          <Link to="/configurations" search={{ ...search, after_id: undefined }}>
            First
          </Link>
        )}
        {next !== null && (
          <Link to="/configurations" search={{ ...search, after_id: next.after_id }}>
            More
          </Link>
        )}
      </p>
    </>
  );
}
