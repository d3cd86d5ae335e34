import type { ApiShared } from '../../shared/api-shared.ts';

export type SessionApi = ReturnType<typeof sessionApi>;

/** Returns what the routes of sessions work with. */
export function sessionApi(shared: ApiShared) {
  const { settings, site, temporal } = shared;
  const { publicUrl, araUrl, temporalUiUrl, temporalNamespace } = settings;
  const { secrets, repositoryAccess, ansibleConfig } = site;
  return {
    ...shared,
    ...{ publicUrl, araUrl, temporalUiUrl, temporalNamespace },
    ...{ secrets, repositoryAccess, ansibleConfig },
    engine: temporal.sessions,
    dispatcher: temporal.dispatcher,
  };
}
