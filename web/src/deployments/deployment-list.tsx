import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { DeploymentView } from '../../../domain/deployments/deployment-schema.ts';
import type { StoredRecord } from '../../../domain/deployments/record-schema.ts';
import type { ClusterView } from '../../../domain/deployments/schema.ts';
import { callApi } from '../shared/api-call.ts';
import { shellWord } from '../shared/commands.ts';
import { ListPage } from '../shared/list/list-page.tsx';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { useLive } from '../shared/live/use-live.ts';
import { Moment } from '../shared/ui/moment.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { DeploymentCalls } from './deployment-calls.tsx';
import { countsText, standingText } from './deployment-text.ts';
import type { DeploymentListSearch } from './search.ts';

/** Clusters of one answer. */
const CLUSTERS = 100;

/** All deployments; with a project in the address its applications, or the deployments of one of them. */
export function DeploymentListPage() {
  const { dropped, ...search } = useSearch({ from: '/deployments' });
  const { project } = search;
  if (project === undefined) return <AllDeployments search={search} dropped={dropped} />;
  const { path, columns, nothing, command } = levelOf({ ...search, project });
  return (
    <ListPage<StoredRecord[], StoredRecord>
      // Records of another level are none of this one.
      key={path}
      name="Deployments"
      search={{ ...search }}
      dropped={dropped}
      filters={[]}
      api={{ path, surface: '/v2', ask: {} }}
      queryKey={['deployments']}
      topic="deployments"
      rows={(records) => records}
      keyOf={({ metadata, spec }) => `${metadata.name} ${String(spec?.version ?? '')}`}
      columns={columns}
      order="names"
      empty={{ narrowed: '', all: '', nothing }}
      command={command}
      above={<Way search={search} />}
      below={<Clusters />}
    />
  );
}

interface DeploymentsAnswer {
  deployments: DeploymentView[];
  next: { after_id: string } | null;
}

function AllDeployments({ search, dropped }: { search: DeploymentListSearch; dropped: string[] | undefined }) {
  return (
    <ListPage<DeploymentsAnswer, DeploymentView>
      name="Deployments"
      search={{ ...search }}
      dropped={dropped}
      filters={[]}
      api={{ path: '/deployments' }}
      queryKey={['deployments', 'all']}
      topic="deployments"
      rows={({ deployments }) => deployments}
      keyOf={({ name }) => name}
      columns={DEPLOYMENT_COLUMNS}
      order="names"
      empty={{
        narrowed: 'There are no more deployments.',
        all: 'All deployments',
        nothing: (
          <>
            There are no deployments yet. <code>./muster deployment apply -f FILE</code>
          </>
        ),
      }}
      command="./muster deployment list"
      below={
        <>
          <Projects />
          <Clusters />
        </>
      }
    />
  );
}

const DEPLOYMENT_COLUMNS: readonly ListColumn<DeploymentView>[] = [
  {
    head: 'Deployment',
    cell: ({ name }) => (
      <Link to="/deployments/$name" params={{ name }}>
        {shownText(name)}
      </Link>
    ),
  },
  {
    head: 'State',
    cell: ({ state, status, is_removed: isRemoved }) =>
      [state, status ?? '', isRemoved ? 'is being removed' : ''].filter((word) => word !== '').join(', '),
  },
  { head: 'Why', cell: ({ state, status }) => standingText(state, status) },
  { head: 'Resources', cell: ({ counts }) => countsText(counts) || 'none' },
  { head: 'Apps', cell: ({ apps }) => shownText(apps.join(', ')) },
  {
    head: 'Since',
    cell: ({ changed_at, changed_by }) => (
      <>
        <Moment at={changed_at} />
        {changed_by !== null && ` by ${shownText(changed_by)}`}
      </>
    ),
  },
  {
    head: 'Action',
    cell: ({ name, state, status, apps, counts, is_removed: isRemoved }) =>
      !isRemoved && (
        <DeploymentCalls
          name={name}
          standing={status === null ? { state } : { state, status }}
          apps={apps}
          counts={counts}
          changes={['deployments']}
          isShort
        />
      ),
  },
];

/** The projects, which lead to their applications. */
function Projects() {
  const read = useQuery({
    queryKey: ['deployments', 'projects'],
    queryFn: ({ signal }) => callApi<StoredRecord[]>('/projects', { signal, surface: '/v2' }),
  });
  useLive('deployments', ['deployments', 'projects']);
  return (
    <Part title="Projects" read={read}>
      {(projects) => (
        <Rows
          name="Projects"
          columns={PROJECT_COLUMNS}
          rows={projects}
          keyOf={({ metadata }) => metadata.name}
          none="There are no projects yet: EMCO clients make them below /v2/projects."
        />
      )}
    </Part>
  );
}

/** Where the list is: projects, then applications, then deployments. */
function Way({ search: { project, app, version } }: { search: DeploymentListSearch }) {
  if (project === undefined) return null;
  return (
    <nav aria-label="Where">
      <Link to="/deployments">All deployments</Link> {shownText(project)}
      {app !== undefined && version !== undefined && (
        <>
          {' '}
          <Link to="/deployments" search={{ project }}>
            All its applications
          </Link>{' '}
          {shownText(`${app} ${version}`)}
        </>
      )}
    </nav>
  );
}

interface Level {
  path: string;
  columns: readonly ListColumn<StoredRecord>[];
  nothing: string;
  command: string;
}

const DESCRIPTION: ListColumn<StoredRecord> = {
  head: 'Description',
  cell: ({ metadata }) => shownText(metadata.description ?? ''),
};

const PROJECT_COLUMNS: readonly ListColumn<StoredRecord>[] = [
  {
    head: 'Project',
    cell: ({ metadata: { name } }) => (
      <Link to="/deployments" search={{ project: name }}>
        {shownText(name)}
      </Link>
    ),
  },
  DESCRIPTION,
];

function levelOf({ project, app, version }: DeploymentListSearch & { project: string }): Level {
  const apps = `/projects/${encodeURIComponent(project)}/composite-apps`;
  if (app === undefined || version === undefined) {
    const versionOf = ({ spec }: StoredRecord) => String(spec?.version ?? '');
    return {
      path: apps,
      columns: [
        {
          head: 'Application',
          cell: (record) => (
            <Link to="/deployments" search={{ project, app: record.metadata.name, version: versionOf(record) }}>
              {shownText(record.metadata.name)}
            </Link>
          ),
        },
        { head: 'Version', cell: (record) => shownText(versionOf(record)) },
        DESCRIPTION,
      ],
      nothing: 'This project has no composite apps.',
      command: `./muster api GET ${shellWord(`/v2${apps}`)}`,
    };
  }
  const path = `${apps}/${encodeURIComponent(app)}/${encodeURIComponent(version)}/deployment-intent-groups`;
  return {
    path,
    columns: [
      {
        head: 'Deployment',
        cell: ({ metadata: { name } }) => (
          <Link to="/deployments/$name" params={{ name: [project, app, version, name].join('+') }}>
            {shownText(name)}
          </Link>
        ),
      },
      { head: 'Profile', cell: ({ spec }) => shownText(String(spec?.profile ?? '')) },
      { head: 'Version', cell: ({ spec }) => shownText(String(spec?.version ?? '')) },
      { head: 'Logical cloud', cell: ({ spec }) => shownText(String(spec?.['logical-cloud'] ?? '')) },
      DESCRIPTION,
    ],
    nothing: 'This application has no deployment intent groups.',
    command: `./muster api GET ${shellWord(`/v2${path}`)}`,
  };
}

/** The clusters that deployments go to. */
function Clusters() {
  const read = useQuery({
    queryKey: ['deployments', 'clusters'],
    queryFn: ({ signal }) =>
      callApi<{ clusters: ClusterView[]; next: object | null }>(`/clusters?limit=${CLUSTERS}`, { signal }),
  });
  useLive('deployments', ['deployments', 'clusters']);
  return (
    <Part title="Clusters" read={read}>
      {({ clusters, next }) => (
        <>
          <Rows
            name="Clusters"
            columns={CLUSTER_COLUMNS}
            rows={clusters}
            keyOf={({ provider, name }) => `${provider}+${name}`}
            none={
              <>
                No cluster is registered: <code>./muster cluster add NAME --provider PROVIDER -f KUBECONFIG</code>
              </>
            }
          />
          {next !== null && (
            <p>
              and more: <code>./muster cluster list</code>
            </p>
          )}
        </>
      )}
    </Part>
  );
}

const CLUSTER_COLUMNS: readonly ListColumn<ClusterView>[] = [
  { head: 'Cluster', cell: ({ provider, name }) => shownText(`${provider}+${name}`) },
  { head: 'Connectivity', cell: ({ connectivity }) => connectivity },
  { head: 'Reason', cell: ({ reason, message }) => shownText([reason, message].filter(Boolean).join(': ')) },
  { head: 'Last seen', cell: ({ last_seen: seen }) => (seen === null ? 'never' : <Moment at={seen} />) },
  { head: 'Credential ends', cell: ({ credential_ends: end }) => (end === null ? 'not known' : <Moment at={end} />) },
  { head: 'Labels', cell: ({ labels }) => shownText(labels.join(', ')) },
];
