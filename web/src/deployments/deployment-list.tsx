import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
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
import type { DeploymentListSearch } from './search.ts';

/** Clusters of one answer. */
const CLUSTERS = 100;

/** Projects, the applications of one of them, or the deployments of one of those. */
export function DeploymentListPage() {
  const { dropped, ...search } = useSearch({ from: '/deployments' });
  const { path, columns, nothing, command } = levelOf(search);
  return (
    <ListPage<StoredRecord[], StoredRecord>
      // Records of another level are none of this one.
      key={path}
      name="Deployments"
      search={search}
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

/** Where the list is: projects, then applications, then deployments. */
function Way({ search: { project, app, version } }: { search: DeploymentListSearch }) {
  if (project === undefined) return null;
  return (
    <nav aria-label="Where">
      <Link to="/deployments">All projects</Link> {shownText(project)}
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

function levelOf({ project, app, version }: DeploymentListSearch): Level {
  if (project === undefined) {
    return {
      path: '/projects',
      columns: [
        {
          head: 'Project',
          cell: ({ metadata: { name } }) => (
            <Link to="/deployments" search={{ project: name }}>
              {shownText(name)}
            </Link>
          ),
        },
        DESCRIPTION,
      ],
      nothing: 'There are no projects yet: EMCO clients make them below /v2/projects.',
      command: './muster api GET /v2/projects',
    };
  }
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
