import { controller, type ErrorTable, kind } from '../error-kind.ts';

/** Refusals of commands to sessions; then what a session can end with. */
export const SESSION_ERRORS = {
  session_not_found: kind(404, 'Session not found.', 3, { advice: '`./muster session list` shows the sessions' }),
  session_replaced: kind(410, 'Session was replaced', 3, {
    advice: 'another session has its name now; the detail has its id',
  }),
  session_exists: kind(409, 'Conflicting session name', 5, {
    advice: 'choose another name, or leave it away to get a new one',
  }),
  session_job_conflict: kind(409, 'Session patch conflict.', 5),
  session_complete: kind(409, 'Session is complete', 5, {
    advice: '`./muster session retry NAME` makes a new session from it',
  }),
  session_not_complete: kind(409, 'Session is not complete', 5, {
    advice: '`./muster session get NAME --wait` waits for the end',
  }),
  session_not_holding: kind(409, 'Session does not hold', 5, {
    advice: 'only a session made with --debug-on-failure holds, and only after a failure',
  }),
  nothing_failed: kind(409, 'No host failed', 5),
  configuration_invalid: kind(400, 'Invalid configuration', 2),
  image_target_unsupported: kind(400, 'Image targets are not available', 2),
  session_failed: kind(409, 'Session failed', 1),
  cancelled: kind(409, 'Session was cancelled', 1),
  session_timeout: kind(409, 'Session took too long', 6),
  no_layer_selected: controller(400, 'No layer is selected', 1),
  playbook_missing: controller(400, 'Playbook not found', 1),
  collection_missing: controller(400, 'Collection or role not installed', 1),
  image_not_customized: kind(502, 'Image was not customized', 1),
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
  workflow_ended: kind(500, 'Workflow was ended from outside', 1),
} satisfies ErrorTable;
