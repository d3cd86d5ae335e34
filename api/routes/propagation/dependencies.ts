import type { ApiShared } from '../../shared/api-shared.ts';

export type PropagationApi = ReturnType<typeof propagationApi>;

/** Returns what the routes of this lane work with. */
export function propagationApi({ db, clock, readYaml }: ApiShared) {
  return { db, clock, readYaml };
}
