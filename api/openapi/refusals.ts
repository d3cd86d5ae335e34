/** Which problems an operation can answer, as codes of the catalogue. */
import type { RouteAccess } from '../../domain/access/roles.ts';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { accessOf } from '../server/access/route-roles.ts';
import { classOfRequest } from '../server/admission/request-class.ts';
import type { DescribedRoute } from './described-routes.ts';
import { pathWithoutVersion } from './surfaces.ts';

/** What asking the remotes for branches can end with. */
const BRANCHES: ErrorCode[] = [
  'source_unknown',
  'branch_not_resolved',
  'changed_meanwhile',
  'secret_store_unavailable',
];
const LAYERS: ErrorCode[] = ['branch_and_commit', 'source_or_url', 'conflicting_layers'];
const TENANTS: ErrorCode[] = ['invalid_tenant', 'tenant_forbidden', 'tenant_registry_unavailable'];
const SESSION_COMMAND: ErrorCode[] = ['session_not_found', 'session_complete', 'engine_unavailable'];

/** What the rules of single operations refuse; paths without their version where both are alike. */
const OWN: Record<string, readonly ErrorCode[]> = {
  'patch /options': ['source_unknown', 'read_only'],
  'get /components': ['bad_tags'],
  'put /components': ['bad_data', 'read_only'],
  'patch /components': ['component_not_found', 'bad_data', 'bad_tags', 'read_only'],
  'get /components/{component_id}': ['component_not_found'],
  'put /components/{component_id}': ['read_only'],
  'patch /components/{component_id}': ['component_not_found', 'read_only'],
  'delete /components/{component_id}': ['component_not_found'],
  'get /configurations/{configuration_id}': ['configuration_not_found'],
  'put /configurations/{configuration_id}': [...BRANCHES, ...LAYERS, 'read_only'],
  'patch /configurations/{configuration_id}': ['configuration_not_found', ...BRANCHES],
  'delete /configurations/{configuration_id}': ['configuration_not_found', 'configuration_in_use'],
  'post /sources': ['source_exists', 'read_only', 'secret_store_unavailable'],
  'get /sources/{source_id}': ['source_not_found'],
  'post /sources/{source_id}': ['source_exists', 'read_only'],
  'patch /sources/{source_id}': ['source_not_found', 'invalid_credentials', 'read_only', 'secret_store_unavailable'],
  'delete /sources/{source_id}': ['source_not_found', 'source_in_use', 'secret_store_unavailable'],
  'get /sessions': ['bad_tags'],
  'post /sessions': ['session_exists', 'configuration_invalid', 'image_target_unsupported'],
  'delete /sessions': ['bad_tags'],
  'get /sessions/{session_name}': ['session_not_found'],
  'patch /sessions/{session_name}': ['body_not_json', 'session_not_found', 'session_job_conflict'],
  'delete /sessions/{session_name}': ['session_not_found'],
  'post /sessions/cancel': ['bad_tags'],
  'post /sessions/{session_name}/cancel': ['body_not_json', ...SESSION_COMMAND],
  'post /sessions/{session_name}/finish-debug': [...SESSION_COMMAND, 'session_not_holding'],
  'post /sessions/{session_name}/retry': [
    'body_not_json',
    'session_not_found',
    'session_not_complete',
    'nothing_failed',
    'session_exists',
    'configuration_invalid',
    'engine_unavailable',
  ],
  'get /sessions/{session_name}/events': ['session_not_found'],
  'get /sessions/{session_name}/logs': ['session_not_found'],
  'get /sessions/{session_name}/hosts': ['session_not_found'],
  'get /sessions/{session_name}/progress': ['session_not_found'],
  'get /runs/{run}': ['run_not_found'],
  'get /runs/{run}/events': ['run_not_found'],
  'get /runs/{run}/logs': ['run_not_found'],
  'post /runs/{run}/end': ['run_not_found', 'run_over', 'run_ends_with_owner', 'engine_unavailable'],
  'get /batches/{batch}': ['batch_not_found'],
  'post /batches/pause': ['body_not_json', 'batch_key_not_found'],
  'post /batches/resume': ['body_not_json', 'batch_key_not_found'],
  'post /schedules': ['schedule_exists'],
  'get /schedules/{schedule}': ['schedule_not_found'],
  'patch /schedules/{schedule}': ['schedule_not_found'],
  'delete /schedules/{schedule}': ['schedule_not_found'],
  'post /schedules/{schedule}/pause': ['schedule_not_found'],
  'post /schedules/{schedule}/resume': ['schedule_not_found'],
  'post /schedules/{schedule}/trigger': ['schedule_not_found'],
  'get /schedules/{schedule}/next': ['schedule_not_found', 'engine_unavailable'],
  'get /schedules/{schedule}/runs': ['schedule_not_found'],
  'get /schedules/{schedule}/runs/{run}': ['schedule_not_found', 'schedule_run_not_found'],
  'get /components/{component_id}/timeline': ['component_not_found'],
  'post /components/reset-errors': ['component_not_found'],
  'get /drift/{component_id}': ['drift_not_found'],
  'post /drift/checks': ['configuration_not_found', 'bad_tags'],
  'get /rollouts/{configuration}': ['rollout_not_found'],
  'post /rollouts/{configuration}/stop': ['body_not_json', 'rollout_not_found', 'rollout_not_running'],
  'post /rollouts/{configuration}/resume': ['rollout_not_found', 'rollout_not_stopped'],
  'post /webhooks': ['webhook_exists', 'webhook_address_masked', 'secret_store_unavailable'],
  'get /webhooks/{webhook}': ['webhook_not_found'],
  'patch /webhooks/{webhook}': ['webhook_not_found', 'webhook_address_masked', 'secret_store_unavailable'],
  'delete /webhooks/{webhook}': ['webhook_not_found', 'secret_store_unavailable'],
  'post /webhooks/{webhook}/test': ['webhook_not_found'],
  'get /webhooks/{webhook}/deliveries': ['webhook_not_found'],
  'get /v2/components': ['list_too_large'],
  'get /v2/configurations': ['list_too_large'],
  'get /v2/sessions': ['list_too_large'],
  'get /secrets': ['secret_store_unavailable'],
  'put /secrets/{name}/{key}': ['secret_store_unavailable'],
  'delete /secrets/{name}': ['secret_not_found', 'secret_in_use', 'secret_store_unavailable'],
  'delete /secrets/{name}/{key}': ['secret_not_found', 'secret_in_use', 'secret_store_unavailable'],
  'get /secrets/{name}/usage': ['secret_not_found', 'secret_store_unavailable', 'secret_unreadable'],
  'get /trust/ca': ['trust_not_ready'],
  'post /apis/ims/images': ['image_reference_unknown'],
  'get /apis/ims/images/{id}': ['image_not_found'],
  'patch /apis/ims/images/{id}': ['image_not_found', 'image_reference_unknown'],
  'delete /apis/ims/images/{id}': ['image_not_found', 'image_in_use'],
  'get /apis/ims/public-keys/{id}': ['image_key_not_found'],
  'delete /apis/ims/public-keys/{id}': ['image_key_not_found'],
  'post /apis/ims/jobs': ['image_reference_unknown', 'image_builder_unavailable'],
  'get /apis/ims/jobs/{id}': ['image_job_not_found'],
  'patch /apis/ims/jobs/{id}': ['image_job_not_found', 'image_reference_unknown', 'image_job_status'],
  'delete /apis/ims/jobs/{id}': ['image_job_not_found'],
  'post /api/v1/images': [
    'image_format_unknown',
    'image_checksum_wrong',
    'image_too_large',
    'image_disk_full',
    'image_builder_unavailable',
  ],
  'get /images/{image}': ['image_not_found'],
  'get /images/{image}/content': ['image_not_found', 'image_file_missing'],
  'delete /images/{image}': ['image_not_found', 'image_in_use'],
  'post /tokens': ['token_exists'],
  'get /tokens/{token}': ['token_not_found'],
  'delete /tokens/{token}': ['token_not_found'],
};

/** Operations with refusals of their own, for the test that all of them exist. */
export const OPERATIONS_WITH_REFUSALS = Object.keys(OWN);

/** Paths that read nothing from the database. */
const WITHOUT_STORAGE = new Set(['/', '/versions', '/v2', '/v3', '/healthz', '/status']);

/** Who may use the operation. */
export function accessOfRoute({ method, path }: DescribedRoute): RouteAccess {
  return accessOf(method.toUpperCase(), patternOf(path), []);
}

/** The path as the framework writes it. */
function patternOf(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Codes of one operation, by status in ascending order. */
export function refusalsOf(route: DescribedRoute): Map<number, ErrorCode[]> {
  const { method, path, schema } = route;
  const common = pathWithoutVersion(path);
  const codes = new Set<ErrorCode>([...(OWN[`${method} ${common}`] ?? []), ...(OWN[`${method} ${path}`] ?? [])]);
  const add = (...more: ErrorCode[]) => {
    for (const code of more) codes.add(code);
  };
  add('bad_request', 'host_not_allowed');
  if (accessOfRoute(route).least !== 'public') {
    add('unauthenticated', 'forbidden', 'too_many_failures', 'issuer_unavailable');
  }
  if (classOfRequest(method.toUpperCase(), patternOf(path)) !== 'free') add('overloaded');
  if (schema.headers !== undefined) add(...TENANTS);
  if (schema.body !== undefined) add('body_not_json', 'unsupported_media_type');
  if (schema.body !== undefined && path.startsWith('/apis/ims/')) add('image_request_invalid');
  if (method !== 'get') add('cross_site', 'body_too_large', 'request_in_progress', 'idempotency_key_reused');
  if (!WITHOUT_STORAGE.has(common)) add('storage_unavailable');
  const order = Object.keys(ERRORS);
  const sorted = [...codes].sort((one, other) => order.indexOf(one) - order.indexOf(other));
  return new Map([...Map.groupBy(sorted, (code) => ERRORS[code].status)].sort(([one], [other]) => one - other));
}
