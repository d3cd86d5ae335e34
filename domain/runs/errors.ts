import { controller, type ErrorTable, kind } from '../error-kind.ts';

/** Single runs, and what the ingest port takes in of them. */
export const RUN_ERRORS = {
  run_not_found: kind(404, 'Run not found', 3),
  run_over: kind(409, 'Run is over', 5),
  run_ends_with_owner: kind(409, 'Run ends with its owner', 5),
  run_position: kind(409, 'Not the next part of the run', 5),
  run_ended: kind(409, 'Run has ended', 5),
  run_log_full: kind(413, 'Payload Too Large', 2),
  runner_protocol_unsupported: kind(400, 'Runner protocol is not known', 2),
  run_not_started: controller(500, 'Run could not be started', 1),
  run_lost: kind(500, 'Run was lost', 1),
} satisfies ErrorTable;
