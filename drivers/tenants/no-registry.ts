import { musterError } from '../../domain/errors.ts';

/**
 * An installation without tenants. A request for one is refused: taking it for the administrator's would show one
 * tenant what belongs to all.
 */
export function withoutRegistry() {
  return {
    hasTenant: async (name: string): Promise<boolean> => {
      const detail = `There is no tenant ${name}: no tenant registry is configured (MUSTER_TENANT_REGISTRY_URL)`;
      throw musterError('invalid_tenant', detail);
    },
  };
}
