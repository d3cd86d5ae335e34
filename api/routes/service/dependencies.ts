import type { ApiShared } from '../../shared/api-shared.ts';

export type ServiceApi = ReturnType<typeof serviceApi>;

/** Returns what status, probes, versions and metrics are made of. */
export function serviceApi(shared: ApiShared) {
  const { settings, site, temporal } = shared;
  return {
    ...shared,
    ...settings,
    secrets: site.secrets,
    engineHealth: temporal.health,
    readWorkers: temporal.workers,
    readQueues: temporal.queues,
  };
}
