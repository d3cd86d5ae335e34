import type { ApiShared } from '../../shared/api-shared.ts';

export type ScheduleApi = ReturnType<typeof scheduleApi>;

/** Returns what the routes of schedules and drift checks work with. */
export function scheduleApi(shared: ApiShared) {
  const { secrets, repositoryAccess, ansibleConfig } = shared.site;
  const { schedules, dispatcher } = shared.temporal;
  return { ...shared, secrets, repositoryAccess, ansibleConfig, schedules, dispatcher };
}
