import type { ApiShared } from '../../shared/api-shared.ts';

export type RunApi = ReturnType<typeof runApi>;

/** Returns what the routes of runs work with. */
export function runApi(shared: ApiShared) {
  return { ...shared, tell: shared.temporal.tell };
}
