import { type ErrorTable, kind } from '../error-kind.ts';

/** Schedules and their runs. */
export const SCHEDULE_ERRORS = {
  schedule_not_found: kind(404, 'Schedule not found', 3, { advice: '`./muster schedule list` shows the schedules' }),
  schedule_exists: kind(409, 'Conflicting schedule name', 5),
  schedule_run_not_found: kind(404, 'Run of the schedule not found', 3),
  schedule_paused: kind(409, 'Schedule is paused', 5),
  refresh_failed: kind(502, 'Branches were not all resolved', 1),
  session_deleted: kind(409, 'Session was deleted', 1),
} satisfies ErrorTable;
