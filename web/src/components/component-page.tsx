import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ComponentDetail } from '../../../domain/components/list-schema.ts';
import { apiBase, callApi, Refusal, recordPath } from '../shared/api-call.ts';
import { curlCommand, shellWord } from '../shared/commands.ts';
import { useLive } from '../shared/live/use-live.ts';
import { CopyCommand } from '../shared/ui/copy-command.tsx';
import { Failure } from '../shared/ui/failure.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { StatusBadge } from '../shared/ui/status-badge.tsx';
import { ComponentActions } from './component-actions.tsx';
import { Explain } from './component-explain.tsx';
import { LastFailureOf, Timeline } from './component-timeline.tsx';
import { layersBeside } from './timeline.ts';

/** Why is this machine not right? */
export function ComponentPage() {
  const { id } = useParams({ from: '/components/$id' });
  return <OneComponent key={id} id={id} />;
}

function OneComponent({ id }: { id: string }) {
  const path = recordPath('components', id);
  const read = useQuery({
    queryKey: ['component', id, 'detail'],
    queryFn: ({ signal }) => callApi<ComponentDetail>(path, { signal }),
  });
  // The name of a topic has no comma.
  useLive(`component:${encodeURIComponent(id)}`, ['component', id]);
  const isGone = read.error instanceof Refusal && read.error.status === 404;
  return (
    <main aria-busy={read.isPending || undefined}>
      <title>{`Component ${shownText(id)} - Muster`}</title>
      <h1>Component {shownText(id)}</h1>
      {isGone && (
        <p>
          There is no component {shownText(id)}: it was deleted, or there was none. Who deleted it stands below, where
          it is known. <Link to="/components">All components</Link>
        </p>
      )}
      {read.isError && !isGone && <Failure error={read.error} retry={() => void read.refetch()} />}
      {read.data && !isGone && <Shown component={read.data} />}
      <Timeline id={id} />
      <p className="buttons">
        <CopyCommand name="Copy as CLI" text={`./muster component get ${shellWord(id)}`} />
        <CopyCommand name="Copy as curl" text={curlCommand('GET', `${apiBase()}${path}`)} />
      </p>
    </main>
  );
}

function Shown({ component }: { component: ComponentDetail }) {
  const { id, status, why, enabled, desired_config, error_count, retry_policy, tags, session, changed_by } = component;
  return (
    <>
      <p className="reason">
        <StatusBadge word={status} /> {!enabled && <StatusBadge word="disabled" />} {shownText(why)}{' '}
        <span className="quiet">
          (record changed <Moment at={component.updated_at} />
          {changed_by !== null && ` by ${shownText(changed_by)}`})
        </span>
      </p>
      <ComponentActions selected={{ kind: 'ids', ids: new Set([id]) }} filters={{}} deleted={() => undefined} />
      <dl>
        <dt>Configuration</dt>
        <dd>{desired_config === '' ? 'none' : shownText(desired_config)}</dd>
        <dt>Errors</dt>
        <dd>
          {error_count} {retry_policy === -1 ? '(tried without end)' : `of ${retry_policy}`}
        </dd>
        <dt>Session</dt>
        <dd>
          {session === null ? (
            'none has it'
          ) : (
            <Link to="/sessions/$name" params={{ name: session.name }} search={{ id: session.id }}>
              {shownText(session.name)}
            </Link>
          )}
        </dd>
        <dt>Tags</dt>
        <dd>
          {Object.entries(tags)
            .map(([key, value]) => shownText(`${key}=${value}`))
            .join(', ') || 'none'}
        </dd>
      </dl>
      <Explain id={id} />
      <Layers component={component} />
      <LastFailureOf component={component} />
    </>
  );
}

function Layers({ component }: { component: ComponentDetail }) {
  const pairs = layersBeside(component);
  return (
    <section aria-label="Desired and reached">
      <h2>Desired and reached</h2>
      {pairs.length === 0 && <p>No layer is desired, and none was reached.</p>}
      {pairs.length > 0 && (
        <table className="wide" aria-label="Layers">
          <thead>
            <tr>
              <th scope="col">Layer</th>
              <th scope="col">Status</th>
              <th scope="col">Desired</th>
              <th scope="col">Reached</th>
              <th scope="col">When</th>
              <th scope="col">Session</th>
            </tr>
          </thead>
          <tbody>
            {pairs.map(({ name, desired, reached }) => (
              <tr key={`${name} ${reached?.clone_url ?? ''} ${reached?.commit ?? ''}`}>
                <th scope="row">{shownText(name)}</th>
                <td>{desired?.status ?? ''}</td>
                <td>{shownText(desired?.commit.slice(0, 12) ?? '')}</td>
                <td>{reached !== null && shownText(`${reached.commit.slice(0, 12)} ${reached.status}`)}</td>
                <td>{reached !== null && <Moment at={reached.last_updated} />}</td>
                <td>{shownText(reached?.session_name ?? '')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
