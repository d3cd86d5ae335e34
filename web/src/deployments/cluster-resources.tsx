import { useQuery } from '@tanstack/react-query';
import { callApi } from '../shared/api-call.ts';
import type { ListColumn } from '../shared/list/list-table.tsx';
import { Part, Rows } from '../shared/ui/part.tsx';
import { shownText } from '../shared/ui/shown-text.ts';
import { openFirst, type ResourceStatus } from './deployment-text.ts';

/** Resources that are drawn: the command line has all of them. */
const DRAWN = 500;

interface ClusterResourcesProps {
  /** Of the deployment. */
  name: string;
  path: string;
  app: string;
  /** PROVIDER+NAME */
  cluster: string;
}

interface ResourceAnswer {
  apps?: { clusters: { resources?: ResourceStatus[] }[] }[];
}

/** The resources of one app on one cluster, those first that are not as they should be. */
export function ClusterResources({ name, path, app, cluster }: ClusterResourcesProps) {
  const query = new URLSearchParams({ type: 'all', output: 'all', app, cluster });
  const read = useQuery({
    queryKey: ['deployment', name, 'resources', app, cluster],
    queryFn: ({ signal }) => callApi<ResourceAnswer>(`${path}/status?${query}`, { surface: '/v2', signal }),
  });
  return (
    <Part title="Resources" read={read}>
      {({ apps = [] }) => {
        const all = openFirst(apps.flatMap(({ clusters }) => clusters.flatMap(({ resources = [] }) => resources)));
        return (
          <>
            <Rows
              name="Resources"
              columns={COLUMNS}
              rows={all.slice(0, DRAWN)}
              keyOf={({ GVK, name: word, namespace = '' }) => [GVK.Group, GVK.Kind, namespace, word].join(' ')}
              none="Nothing of this app is on this cluster."
            />
            {all.length > DRAWN && <p>and {all.length - DRAWN} more</p>}
          </>
        );
      }}
    </Part>
  );
}

const COLUMNS: readonly ListColumn<ResourceStatus>[] = [
  {
    head: 'Resource',
    cell: ({ GVK, name, namespace }) =>
      shownText(`${GVK.Kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`),
  },
  { head: 'Rsync status', cell: (resource) => resource['rsync-status'] ?? '' },
  { head: 'Cluster status', cell: (resource) => resource['cluster-status'] ?? '' },
  { head: 'Ready', cell: (resource) => resource['ready-status'] ?? '' },
  {
    head: 'Reason',
    cell: ({ reason, message }) => shownText([reason, message].filter((text) => text !== undefined).join(': ')),
  },
];
