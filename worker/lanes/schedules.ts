import { createScheduleActivities } from '../../activities/schedules/activities.ts';
import { createScheduleEngine } from '../../control/schedules/schedule-engine.ts';
import { createScheduleSweep } from '../../control/schedules/sweep-schedules.ts';
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
  sweep: createScheduleSweep({ ...shared, schedules: createScheduleEngine(shared.client) }),
});
