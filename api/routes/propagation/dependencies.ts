import type { ApiShared } from '../../shared/api-shared.ts';

export type PropagationApi = ReturnType<typeof propagationApi>;

/** Returns what the routes of this lane work with. */
export function propagationApi({ db, clock, readYaml, streams, temporal, settings }: ApiShared) {
  return {
    db,
    clock,
    readYaml,
    streams,
    tell: temporal.tell,
    runner: settings.runner,
    repositorySchemes: settings.repositorySchemes,
    allowsLocal: settings.allowsLocal,
    eventPolicy: settings.eventPolicy,
  };
}
