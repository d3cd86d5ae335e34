import { Link, useParams, useSearch } from '@tanstack/react-router';
import { shellWord } from '../shared/commands.ts';
import { ListTable } from '../shared/list/list-table.tsx';
import { Moment } from '../shared/ui/moment.tsx';
import { RecordPage } from '../shared/ui/record-page.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { ClusterResources } from './cluster-resources.tsx';
import { DeploymentCalls } from './deployment-calls.tsx';
import { clusterOf, countsText, type DeploymentStatus, deploymentPath, troubleOf, whyText } from './deployment-text.ts';
import type { DeploymentSearch } from './search.ts';

/** Is it where it should be? */
export function DeploymentPage() {
  const { name } = useParams({ from: '/deployments/$name' });
  const { dropped, ...search } = useSearch({ from: '/deployments/$name' });
  const path = deploymentPath(name);
  const all = <Link to="/deployments">All projects</Link>;
  if (path === null) {
    return (
      <main>
        <title>{`Deployment ${shownText(name)} - Muster`}</title>
        <h1>Deployment {shownText(name)}</h1>
        <p>A deployment is named by project, application, version and name, with + between them. {all}</p>
      </main>
    );
  }
  return (
    <RecordPage<DeploymentStatus>
      key={name}
      title={() => `Deployment ${shownText(name)}`}
      path={`${path}/status?type=all&output=clusters`}
      surface="/v2"
      queryKey={['deployment', name]}
      topic={`deployment:${path.slice(1)}`}
      dropped={dropped}
      gone={
        <>
          There is no deployment {shownText(name)}: it was removed, or there was none. {all}
        </>
      }
      command={() => `./muster deployment status ${shellWord(name)}`}
    >
      {(status) => (
        <>
          <Why status={status} />
          <DeploymentCalls
            name={name}
            standing={status}
            apps={(status.apps ?? []).map((app) => app.name)}
            counts={status['rsync-status']}
            changes={['deployment', name]}
          />
          <Tree name={name} path={path} status={status} search={search} />
          <History status={status} />
        </>
      )}
    </RecordPage>
  );
}

/** How it stands, why, and where that comes from. */
function Why({ status }: { status: DeploymentStatus }) {
  const { state, status: context, ready, apps = [] } = status;
  const troubles = apps.flatMap(({ name: app, clusters }) =>
    clusters.flatMap((cluster) => {
      const trouble = troubleOf(cluster);
      return trouble === '' ? [] : [{ app, cluster: clusterOf(cluster), trouble }];
    }),
  );
  return (
    <section aria-label="Why">
      <h2>Why</h2>
      <p>
        <strong>{state}</strong>
        {context !== undefined && ` (AppContext ${context})`}: {whyText(status)}.
      </p>
      <dl>
        <dt>Applied</dt>
        <dd>{countsText(status['rsync-status']) || 'nothing'}</dd>
        <dt>There</dt>
        <dd>{countsText(status['cluster-status']) || 'nothing'}</dd>
        <dt>Ready</dt>
        <dd>
          {ready === true ? 'yes' : 'no'}
          {countsText(status['ready-status']) !== '' && `: ${countsText(status['ready-status'])}`}
        </dd>
      </dl>
      {troubles.length > 0 && (
        <ul aria-label="Not as it should be">
          {troubles.map(({ app, cluster, trouble }) => (
            <li key={`${app} ${cluster}`}>
              <Link to="." search={{ app, cluster } as never}>
                {shownText(`${app} on ${cluster}`)}
              </Link>
              : {shownText(trouble)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface TreeProps {
  name: string;
  path: string;
  status: DeploymentStatus;
  search: DeploymentSearch;
}

/** Apps, the clusters of each with counts, and the resources of the one that is opened. */
function Tree({ name, path, status: { apps = [] }, search }: TreeProps) {
  return (
    <section aria-label="Tree">
      <h2>Tree</h2>
      {apps.length === 0 && <p>Nothing of it was brought to a cluster yet.</p>}
      <ul>
        {apps.map(({ name: app, clusters }) => (
          <li key={app}>
            {shownText(app)}
            <ul aria-label={`Clusters of ${shownText(app)}`}>
              {clusters.map((cluster) => {
                const word = clusterOf(cluster);
                const isOpened = search.app === app && search.cluster === word;
                const { connectivity, 'last-seen': seen } = cluster;
                return (
                  <li key={word}>
                    <Link
                      to="."
                      search={(isOpened ? {} : { app, cluster: word }) as never}
                      aria-current={isOpened ? 'true' : undefined}
                    >
                      {shownText(word)}
                    </Link>{' '}
                    {[cluster['rsync-status'], cluster['cluster-status'], cluster['ready-status']]
                      .map(countsText)
                      .filter((text) => text !== '')
                      .join('; ')}
                    {connectivity !== undefined && `, ${connectivity}`}
                    {seen !== undefined && (
                      <>
                        , last seen <Moment at={seen} />
                      </>
                    )}
                    {isOpened && <ClusterResources name={name} path={path} app={app} cluster={word} />}
                  </li>
                );
              })}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  );
}

function History({ status: { states } }: { status: DeploymentStatus }) {
  const actions = states?.actions ?? [];
  return (
    <section aria-label="History">
      <h2>History</h2>
      <ListTable
        name="History"
        rows={actions.map((action, place) => ({ ...action, place })).toReversed()}
        keyOf={({ place }) => String(place)}
        columns={[
          { head: 'State', cell: ({ state }) => state },
          { head: 'When', cell: ({ time }) => <Moment at={time} /> },
          { head: 'AppContext', cell: ({ instance }) => (instance === '' ? 'none' : shownText(instance)) },
        ]}
      />
    </section>
  );
}
