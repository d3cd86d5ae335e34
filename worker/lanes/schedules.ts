import { createScheduleActivities } from '../../activities/schedules/activities.ts';
import { keepUserSchedules } from '../../control/schedules/keep-user-schedules.ts';
import { createScheduleEngine } from '../../control/schedules/schedule-engine.ts';
import { withoutRegistry } from '../../drivers/tenants/no-registry.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** The user's schedules, and drift checks. */
export const schedules: WorkerLane = (shared) => ({
  main: createScheduleActivities({
    ...shared,
    repositoryAccess: shared.site.values.repositoryAccess,
    // A schedule acts for no tenant.
    tenants: withoutRegistry(),
  }),
  background: [() => keepUserSchedules({ ...shared, schedules: createScheduleEngine(shared.client) })],
});
