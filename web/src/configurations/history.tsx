import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ConfigurationHistory, ConfigurationVersion } from '../../../domain/configurations/history-schema.ts';
import { actingRefusal } from '../access/may.ts';
import { useMe } from '../access/me.ts';
import { apiBase, callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { useConnection } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { restoredBody, type Stored } from './draft.ts';
import { CONFIGURATIONS } from './reads.ts';
import { restoreRefusal } from './restore-refusal.ts';
import { SaveAction } from './save-action.tsx';
import type { ConfigurationSearch } from './search.ts';
import { VersionDiff } from './version-diff.tsx';

/** Versions of one page. */
const PAGE = 50;

interface HistoryProps {
  name: string;
  search: ConfigurationSearch;
  /** What stands in the database now; null: nothing. */
  stored: Stored | null;
}

/** Who has written a configuration, when and why; two versions beside each other, and the way back to an older one. */
export function History({ name, search, stored }: HistoryProps) {
  const query = new URLSearchParams({ limit: String(PAGE) });
  if (search.after_id !== undefined) query.set('after_id', search.after_id);
  const path = `${recordPath('configurations', name)}/history?${query}`;
  const read = useQuery({
    queryKey: [CONFIGURATIONS, name, 'history', path],
    queryFn: ({ signal }) => callApi<ConfigurationHistory>(path, { signal }),
    placeholderData: (before) => before,
  });
  const isUnknown = read.error instanceof Refusal && read.error.status === 404;
  return (
    <>
      {search.from !== undefined && <VersionDiff name={name} from={search.from} to={search.to ?? 'current'} />}
      {isUnknown && <p>The audit has no change of a configuration of this name.</p>}
      {read.isError && !isUnknown && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.isPending && <p aria-busy="true">The history is read.</p>}
      {read.data && !isUnknown && <Versions name={name} history={read.data} search={search} stored={stored} />}
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text={`./muster audit list --kind configuration --name ${shellWord(name)}`} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}${path}`)} />
      </p>
    </>
  );
}

function Versions({ name, history, search, stored }: HistoryProps & { history: ConfigurationHistory }) {
  const { versions, reaches_back_to: since, next } = history;
  return (
    <>
      <table aria-label="History" className="wide">
        <thead>
          <tr>
            <th scope="col">Version</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Reason</th>
            <th scope="col">Compare and restore</th>
          </tr>
        </thead>
        <tbody>
          {versions.map((version, index) => (
            <Row
              key={version.id}
              name={name}
              version={version}
              older={versions[index + 1]?.id ?? null}
              isCurrent={index === 0 && search.after_id === undefined && stored !== null}
              stored={stored}
              search={search}
            />
          ))}
        </tbody>
      </table>
      {versions.length === 0 && <p>There are no older versions.</p>}
      {since === null ? (
        <p className="quiet">The audit has no change of it that is kept.</p>
      ) : (
        <p className="quiet">
          The audit reaches back to <Moment at={since} />.
        </p>
      )}
      <p className="buttons">
        {search.after_id !== undefined && (
          <Link to="/configurations/$name" params={{ name }} search={{ tab: 'history' }}>
            Newest
          </Link>
        )}
        {typeof next?.after_id === 'string' && (
          <Link to="/configurations/$name" params={{ name }} search={{ tab: 'history', after_id: next.after_id }}>
            Older
          </Link>
        )}
      </p>
    </>
  );
}

interface RowProps {
  name: string;
  version: ConfigurationVersion;
  /** Id of the version before it; null where the page has none. */
  older: string | null;
  isCurrent: boolean;
  stored: Stored | null;
  search: ConfigurationSearch;
}

const WORDS: Record<ConfigurationVersion['action'], string> = {
  create: 'made',
  update: 'changed',
  delete: 'deleted',
  unknown: 'before the oldest change',
};

function Row({ name, version, older, isCurrent, stored, search }: RowProps) {
  const { data: me } = useMe();
  const { state } = useConnection();
  const { id, time, actor, reason, action, layers } = version;
  const place = { tab: 'history' as const, after_id: search.after_id };
  return (
    <tr>
      <th scope="row">
        {time === null ? 'not known when' : <Moment at={time} />}
        {isCurrent && ' (current)'}
      </th>
      <td>{actor === null ? 'not known' : shownText(actor)}</td>
      <td>
        {WORDS[action]}
        {layers !== null && `, ${layers.length} ${layers.length === 1 ? 'layer' : 'layers'}`}
      </td>
      <td>{reason === null ? '' : shownText(reason)}</td>
      <td>
        <div className="buttons">
          {older !== null && (
            <Link to="/configurations/$name" params={{ name }} search={{ ...place, from: older, to: id }}>
              What changed
            </Link>
          )}
          {!isCurrent && stored !== null && (
            <Link to="/configurations/$name" params={{ name }} search={{ ...place, from: id, to: 'current' }}>
              Compare with current
            </Link>
          )}
          <SaveAction
            action="Restore"
            name={name}
            body={restoredBody({ ...version, layers: layers ?? [] })}
            replaced={stored}
            refusal={actingRefusal(me, state) ?? restoreRefusal(version, isCurrent)}
            note={
              <p>Each layer is pinned to the commit that it had in this version; its branch is not followed then.</p>
            }
          />
        </div>
      </td>
    </tr>
  );
}
