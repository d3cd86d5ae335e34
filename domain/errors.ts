/**
 * The one catalogue of errors. A code is the same word in a problem document (`code`), in the CLI, in logs and as the
 * type of a failed activity. Titles of CFS's own situations are its contract (cfs-api 2); `exit` is the CLI's status.
 *
 * A code made by `controller` says that a session could not do its work because of what lies outside its hosts: repository, secret,
 * inventory, disk, cluster, Muster itself. The batcher charges no host for a session that ends with it (see batches/controller-fault.ts).
 */
interface ErrorKind {
  /** HTTP status of the problem document. */
  status: number;
  title: string;
  /** Whether an activity that failed with it may be tried again. */
  retryable: boolean;
  /** Exit status of the CLI: 1 failed, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 timed out, 7 unreachable. */
  exit: number;
  /** Whether it is a fault of the controller, or of what the controller depends on, and of no host. */
  controller: boolean;
}

const kind = (status: number, title: string, exit: number, retryable = false): ErrorKind => ({
  status,
  title,
  retryable,
  exit,
  controller: false,
});

const controller = (status: number, title: string, exit: number, retryable = false): ErrorKind => ({
  ...kind(status, title, exit, retryable),
  controller: true,
});

export const ERRORS = {
  // requests
  bad_request: kind(400, 'Bad Request', 2),
  body_not_json: kind(400, 'Bad Request', 2),
  read_only: kind(400, 'Bad Request', 2),
  not_found: kind(404, 'Not Found', 3),
  list_too_large: kind(400, 'The response size is too large', 2),
  method_not_allowed: kind(405, 'Method Not Allowed', 2),
  unsupported_media_type: kind(415, 'Unsupported Media Type', 2),
  body_too_large: kind(413, 'Payload Too Large', 2),
  headers_too_large: kind(431, 'Request Header Fields Too Large', 2),
  request_timeout: kind(408, 'Request Timeout', 7),
  host_not_allowed: kind(421, 'Misdirected Request', 4),
  cross_site: kind(403, 'Forbidden', 4),
  idempotency_key_reused: kind(422, 'Unprocessable Content', 2),
  request_in_progress: kind(409, 'Conflict', 5, true),
  overloaded: kind(503, 'Service Unavailable', 7, true),
  unauthenticated: kind(401, 'Unauthorized', 4),
  forbidden: kind(403, 'Forbidden', 4),
  too_many_failures: kind(429, 'Too Many Requests', 4),
  issuer_unavailable: kind(503, 'Service Unavailable', 7, true),
  token_not_found: kind(404, 'Token not found', 3),
  token_exists: kind(409, 'Conflicting token name', 5),
  storage_unavailable: controller(503, 'Service Unavailable', 7, true),
  engine_unavailable: controller(503, 'Service Unavailable', 7, true),
  internal: controller(500, 'Internal Server Error', 1, true),
  payload_refused: controller(502, 'Refused', 1),
  mac_key_unusable: kind(500, 'Key of another installation', 1),

  // components
  component_not_found: kind(404, 'Component not found.', 3),
  bad_tags: kind(400, 'Error parsing the tags provided.', 2),
  bad_data: kind(400, 'Error parsing the data provided.', 2),

  // trust
  trust_not_ready: controller(404, 'No certificate authority yet', 3),
  trust_unavailable: controller(502, 'Certificate authority is not available', 1, true),

  // webhooks
  webhook_not_found: kind(404, 'Webhook not found', 3),
  webhook_exists: kind(409, 'Conflicting webhook name', 5),
  webhook_address_masked: kind(400, 'Address is not whole', 2),

  // configurations, sources, options, secrets
  configuration_not_found: kind(404, 'Configuration not found', 3),
  configuration_in_use: kind(400, 'Configuration is in use.', 5),
  branch_and_commit: kind(400, 'Error handling branches', 2),
  password_in_address: kind(400, 'Password in an address', 2),
  source_or_url: kind(400, 'Error handling source', 2),
  source_unknown: controller(400, 'Source does not exist', 2),
  branch_not_resolved: controller(400, 'Error converting branch name to commit', 2),
  conflicting_layers: kind(400, 'Error with conflicting layers', 2),
  changed_meanwhile: kind(503, 'Service Unavailable', 7, true),
  source_not_found: kind(404, 'Source not found', 3),
  source_exists: kind(409, 'Conflicting source name', 5),
  source_in_use: kind(400, 'Source is in use.', 5),
  invalid_credentials: kind(400, 'Invalid credentials', 2),
  invalid_tenant: kind(400, 'Invalid tenant', 2),
  tenant_forbidden: kind(403, 'Forbidden operation.', 4),
  tenant_registry_unavailable: controller(503, 'Service Unavailable', 7, true),
  config_missing: controller(400, 'Configuration value is missing', 1),
  secret_not_found: kind(404, 'Secret not found', 3),
  secret_in_use: kind(409, 'Secret is in use', 5),
  secret_unreadable: controller(500, 'Secret cannot be read', 1),
  secret_key_elsewhere: kind(409, 'Key of the secrets is elsewhere', 5),
  secret_malformed: kind(400, 'Secret has another form', 2),
  secret_store_unavailable: controller(503, 'Service Unavailable', 7, true),

  // sessions
  session_not_found: kind(404, 'Session not found.', 3),
  session_exists: kind(409, 'Conflicting session name', 5),
  session_job_conflict: kind(409, 'Session patch conflict.', 5),
  session_complete: kind(409, 'Session is complete', 5),
  session_not_complete: kind(409, 'Session is not complete', 5),
  session_not_holding: kind(409, 'Session does not hold', 5),
  nothing_failed: kind(409, 'No host failed', 5),
  drift_not_found: kind(404, 'Drift not known', 3),
  configuration_invalid: kind(400, 'Invalid configuration', 2),
  image_target_unsupported: kind(400, 'Image targets are not available', 2),

  // runs
  run_not_found: kind(404, 'Run not found', 3),
  run_over: kind(409, 'Run is over', 5),
  run_ends_with_owner: kind(409, 'Run ends with its owner', 5),

  // schedules
  schedule_not_found: kind(404, 'Schedule not found', 3),
  schedule_exists: kind(409, 'Conflicting schedule name', 5),
  schedule_run_not_found: kind(404, 'Run of the schedule not found', 3),
  schedule_paused: kind(409, 'Schedule is paused', 5),
  refresh_failed: kind(502, 'Branches were not all resolved', 1),
  session_failed: kind(409, 'Session failed', 1),
  session_deleted: kind(409, 'Session was deleted', 1),

  // batches
  batch_not_found: kind(404, 'Batch not found', 3),
  batch_key_not_found: kind(404, 'Batch key not found', 3),

  // rollouts
  rollout_not_found: kind(404, 'Rollout not found', 3),
  rollout_not_running: kind(409, 'Rollout is not running', 5),
  rollout_not_stopped: kind(409, 'Rollout is not stopped', 5),

  // the image service
  image_not_found: kind(404, 'Image not found', 3),
  image_file_missing: kind(404, 'Image has no file here', 3),
  image_in_use: kind(409, 'Image is in use', 5),
  image_key_not_found: kind(404, 'Public key not found', 3),
  image_job_not_found: kind(404, 'Image job not found', 3),
  image_job_status: kind(409, 'Image job cannot come to this status', 5),
  image_request_invalid: kind(422, 'Unprocessable Content', 2),
  image_reference_unknown: kind(400, 'Bad reference', 2),
  image_format_unknown: kind(422, 'Format is not known', 2),
  image_checksum_wrong: kind(422, 'Checksum is another one', 2),

  // the ingest port
  run_position: kind(409, 'Not the next part of the run', 5),
  run_ended: kind(409, 'Run has ended', 5),
  run_log_full: kind(413, 'Payload Too Large', 2),
  runner_protocol_unsupported: kind(400, 'Runner protocol is not known', 2),

  // what a session can fail with
  cancelled: kind(409, 'Session was cancelled', 1),
  session_timeout: kind(409, 'Session took too long', 6),
  no_layer_selected: controller(400, 'No layer is selected', 1),
  repository_url_refused: controller(400, 'Repository URL refused', 2),
  repository_auth_failed: controller(400, 'Repository refused the credentials', 1),
  credentials_withheld: controller(400, 'Credentials are not sent to this host', 1),
  repository_untrusted: controller(400, 'Repository certificate is not trusted', 1),
  repository_not_found: controller(400, 'Repository not found', 1),
  repository_unsafe: controller(400, 'Repository is not safe to use', 1),
  commit_not_found: controller(400, 'Commit not found', 1),
  branch_not_found: controller(400, 'Error converting branch name to commit', 2),
  lfs_unavailable: controller(400, 'git-lfs is not installed', 1),
  lfs_object_missing: controller(400, 'Git LFS content is missing', 1),
  submodule_unknown: controller(400, 'Submodule has no address', 1),
  clone_failed: controller(502, 'Clone failed', 1, true),
  playbook_missing: controller(400, 'Playbook not found', 1),
  collection_missing: controller(400, 'Collection or role not installed', 1),
  inventory_failed: controller(502, 'Inventory failed', 1, true),
  inventory_empty: kind(400, 'Inventory has no host', 1),
  inventory_invalid: controller(400, 'Inventory cannot be written', 1),
  image_unknown: controller(400, 'Image does not exist', 1),
  image_service_unavailable: controller(503, 'Image service is not available', 1, true),
  image_service_refused: controller(400, 'Image service refused', 1),
  image_job_failed: controller(502, 'Image job failed', 1),
  image_wait_timeout: controller(504, 'Image took too long', 6),
  image_not_customized: kind(502, 'Image was not customized', 1),
  image_builder_unavailable: controller(503, 'Images cannot be built here', 1),
  image_root_unsafe: kind(409, 'Root file system is not safe to use', 1),
  image_archive_invalid: kind(400, 'Image cannot be unpacked', 1),
  image_too_large: kind(413, 'Image is too large', 1),
  image_disk_full: controller(507, 'Disk is full', 1, true),
  image_port_taken: controller(409, 'Port is taken', 1, true),
  image_environment_failed: controller(500, 'Image could not be opened', 1),
  image_step_killed: controller(500, 'Work on an image was killed', 1, true),
  image_pack_failed: controller(500, 'Image could not be packed', 1),
  image_boot_file_missing: kind(400, 'Image lacks a file', 1),
  run_not_started: controller(500, 'Run could not be started', 1),
  run_lost: kind(500, 'Run was lost', 1),
  workspace_gone: controller(500, 'Workspace is gone', 1),
  runner_gone: controller(500, 'Runner host is gone', 1),
  runner_unavailable: controller(409, 'No runner of that kind', 1),
  runner_failed: controller(500, 'Runner failed', 1),
  job_deleted: kind(409, 'Job was deleted', 1),
  job_lost: kind(500, 'Job was lost', 1),
  image_pull_failed: controller(500, 'Image cannot be pulled', 1),
  container_config_invalid: controller(500, 'Container cannot be made', 1),
  out_of_memory: kind(500, 'Out of memory', 1),
  evicted: controller(500, 'Pod was evicted', 1),
  unschedulable: controller(500, 'No node can run the pod', 1),
  node_lost: controller(500, 'Node is lost', 1),
  pod_deleted: kind(500, 'Pod was deleted', 1),
  pod_silent: controller(500, 'Pod does not reach Muster', 1),
  deadline_exceeded: kind(409, 'Job took too long', 6),
  cluster_unavailable: controller(503, 'Cluster is not available', 7, true),
  cluster_refused: controller(400, 'Cluster refused', 1),
  workflow_ended: kind(500, 'Workflow was ended from outside', 1),
  components_busy: kind(409, 'Components are in another session', 5, true),
  disk_low: controller(503, 'Disk space is low', 1, true),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

/** Whether a word is a code of the catalogue. */
export function isErrorCode(word: string | null | undefined): word is ErrorCode {
  return typeof word === 'string' && Object.hasOwn(ERRORS, word);
}

/** An expected refusal or failure: a code of the catalogue and a sentence that names the value and the fix. */
export class MusterError extends Error {
  readonly code: ErrorCode;
  /** The sentence for the user; the same as `message`. */
  readonly detail: string;
  /** Path of the offending field (`layers.0.commit`), where there is one. */
  readonly field: string | undefined;

  constructor(code: ErrorCode, detail: string, field?: string) {
    super(detail);
    this.name = 'MusterError';
    this.code = code;
    this.detail = detail;
    this.field = field;
  }
}

/** Makes the error for `code`; `detail` must name the offending value. */
export function musterError(code: ErrorCode, detail: string, field?: string): MusterError {
  return new MusterError(code, detail, field);
}

/** Whether `error` is an expected one (works across module instances, unlike `instanceof`). */
export function isMusterError(error: unknown): error is MusterError {
  return error instanceof Error && error.name === 'MusterError' && 'code' in error;
}

/** The problem document of an error (RFC 7807 with the stable `code`; cfs-api 2). */
export interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
}

/** Problem document of an expected error; the field, where known, ends the sentence as ` - 'path'`. */
export function problemOf(error: Pick<MusterError, 'code' | 'detail' | 'field'>): Problem {
  const { status, title } = ERRORS[error.code];
  const detail = error.field ? `${error.detail} - '${error.field}'` : error.detail;
  return { type: 'about:blank', title, status, detail, code: error.code };
}
