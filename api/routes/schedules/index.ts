import { pauseSchedules, resumeSchedules } from '../../../control/schedules/stop-schedules.ts';
import { readDriftRevision, readSchedulesRevision } from '../../../store/schedules/revisions.ts';
import { topicOfList } from '../../server/streaming/topic-watches.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { scheduleApi } from './dependencies.ts';
import { driftRoutes } from './drift-routes.ts';
import { scheduleCommandRoutes } from './schedule-command-routes.ts';
import { scheduleRoutes } from './schedule-routes.ts';

/** The user's schedules, and drift checks. */
export const schedules: ApiLane = (shared) => {
  const deps = scheduleApi(shared);
  return {
    muster: {
      drift: (app) => driftRoutes(app, deps),
      schedules: async (app) => {
        await scheduleRoutes(app, deps);
        await scheduleCommandRoutes(app, deps);
      },
    },
    topics: {
      schedules: topicOfList(shared.streams, () => readSchedulesRevision(shared.db)),
      drift: topicOfList(shared.streams, () => readDriftRevision(shared.db)),
    },
    stop: {
      pause: (by, stop) => pauseSchedules(deps, by, stop),
      go: (by, moments) => resumeSchedules(deps, by, moments),
    },
  };
};
