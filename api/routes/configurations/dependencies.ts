import type { ApiShared, Offered } from '../../shared/api-shared.ts';

export type ConfigurationApi = ReturnType<typeof configurationApi>;

/** Returns what the routes of configurations, sources and options work with. */
export function configurationApi(shared: ApiShared, { sourceUsers }: Pick<Offered, 'sourceUsers'>) {
  const { secrets, repositoryAccess, ansibleConfig } = shared.site;
  return { ...shared, secrets, repositoryAccess, ansibleConfig, engine: shared.temporal.sessions, sourceUsers };
}
