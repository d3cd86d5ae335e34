import type { ApiShared } from '../../shared/api-shared.ts';

export type BatchApi = ReturnType<typeof batchApi>;

/** Returns what the routes of batches and rollouts work with. */
export function batchApi(shared: ApiShared) {
  return { ...shared, engine: shared.temporal.sessions, dispatcher: shared.temporal.dispatcher };
}
