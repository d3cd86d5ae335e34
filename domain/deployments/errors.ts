import { type ErrorTable, kind } from '../error-kind.ts';

/** What codes of other tables mean on the surface `placement`, as EMCO's API promises. */
export const DEPLOYMENT_MEANINGS = {
  body_not_json: kind(422, 'Body is not JSON', 2),
  not_supported: kind(501, 'Not built', 2),
} satisfies ErrorTable;

/** Applications on member clusters: records, placement, life cycles, credentials of clusters. */
export const DEPLOYMENT_ERRORS = {
  invalid_form: kind(422, 'Form cannot be read', 2),
  not_acceptable: kind(406, 'Not Acceptable', 2),
  already_exists: kind(409, 'Conflicting name', 5),
  invalid_state: kind(409, 'State does not allow it', 5, {
    advice: '`./muster deployment status NAME` shows the state and what it waits for',
  }),
  context_busy: kind(409, 'Former work has not ended', 5, {
    advice: '`./muster deployment status NAME` shows what is still at work; `stop` ends it',
  }),
  has_children: kind(409, 'Records below it exist', 5, { advice: 'delete the records below it first' }),
  in_use: kind(409, 'In use', 5),
  logical_cloud_not_ready: kind(409, 'Logical cloud is not ready', 5),
  no_clusters: kind(400, 'No cluster is chosen', 2, {
    advice: '`./muster cluster list` shows the clusters and their labels',
  }),
  no_such_cluster: kind(400, 'Cluster does not exist', 2, { advice: '`./muster cluster list` shows the clusters' }),
  no_placement_intent: kind(400, 'Placement intent is missing', 2),
  logical_cloud_lacks_clusters: kind(400, 'Logical cloud lacks clusters', 2),
  label_too_long: kind(400, 'Label would be too long', 2),
  dependency_cycle: kind(400, 'Dependencies cannot be ordered', 2),
  invalid_kubeconfig: kind(400, 'Kubeconfig is not accepted', 2, {
    advice: 'inline the certificates and the token: `kubectl config view --minify --flatten --raw`',
  }),
  cluster_address_not_allowed: kind(400, 'Address of the cluster is not allowed', 2),
  render_failed: kind(422, 'Manifests cannot be read', 2),
  level_not_supported: kind(501, 'Level is not supported', 2),
} satisfies ErrorTable;
