/** Which problems an operation can answer, as codes of the catalogue. */
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import type { DescribedRoute } from './described-routes.ts';
import { pathWithoutVersion } from './surfaces.ts';

const NEW_CONFIGURATION: ErrorCode[] = [
  'branch_and_commit',
  'source_or_url',
  'source_unknown',
  'branch_not_resolved',
  'branch_not_found',
  'conflicting_layers',
  'repository_url_refused',
  'changed_meanwhile',
];
const SESSION_COMMAND: ErrorCode[] = ['session_not_found', 'session_complete', 'engine_unavailable'];

/** What the rules of single operations refuse; paths without their version. */
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
  'put /configurations/{configuration_id}': [...NEW_CONFIGURATION, 'read_only'],
  'patch /configurations/{configuration_id}': ['configuration_not_found', ...NEW_CONFIGURATION],
  'delete /configurations/{configuration_id}': ['configuration_not_found', 'configuration_in_use'],
  'post /sources': ['source_exists', 'read_only'],
  'get /sources/{source_id}': ['source_not_found'],
  'post /sources/{source_id}': ['source_exists', 'read_only'],
  'patch /sources/{source_id}': ['source_not_found', 'invalid_credentials', 'read_only'],
  'delete /sources/{source_id}': ['source_not_found', 'source_in_use'],
  'get /sessions': ['bad_tags'],
  'post /sessions': ['session_exists', 'configuration_invalid', 'image_target_unsupported'],
  'delete /sessions': ['bad_tags'],
  'get /sessions/{session_name}': ['session_not_found'],
  'patch /sessions/{session_name}': ['body_not_json', 'session_not_found', 'session_job_conflict'],
  'delete /sessions/{session_name}': ['session_not_found'],
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
};

/** Operations with refusals of their own, for the test that all of them exist. */
export const OPERATIONS_WITH_REFUSALS = Object.keys(OWN);

/** Paths that read nothing from the database. */
const WITHOUT_STORAGE = new Set(['/', '/versions', '/v2', '/v3', '/healthz', '/status']);

/** Codes of one operation, by status in ascending order. */
export function refusalsOf({ method, path, schema }: DescribedRoute): Map<number, ErrorCode[]> {
  const common = pathWithoutVersion(path);
  const takesInput = schema.params !== undefined || schema.querystring !== undefined || schema.body !== undefined;
  const codes = new Set<ErrorCode>(OWN[`${method} ${common}`] ?? []);
  codes.add('host_not_allowed');
  if (takesInput || codes.has('body_not_json')) codes.add('bad_request');
  if (schema.body !== undefined) codes.add('body_not_json').add('unsupported_media_type');
  if (method !== 'get') codes.add('cross_site').add('body_too_large');
  if (!WITHOUT_STORAGE.has(common)) codes.add('storage_unavailable');
  const order = Object.keys(ERRORS);
  const sorted = [...codes].sort((one, other) => order.indexOf(one) - order.indexOf(other));
  return new Map([...Map.groupBy(sorted, (code) => ERRORS[code].status)].sort(([one], [other]) => one - other));
}
