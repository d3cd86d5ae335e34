import type { TenantRegistry } from '../../domain/configurations/ports.ts';
import { refuseForeign, type Tenant } from '../../domain/configurations/tenancy.ts';
import { type Precondition, requireVersion } from '../../domain/configurations/version-tag.ts';
import { musterError } from '../../domain/errors.ts';
import {
  deleteConfiguration as deleteRecord,
  isDesired,
  lockConfigurationAgainstDesire,
} from '../../store/configurations/configurations.ts';
import type { Db } from '../../store/connection/database.ts';
import { admitTenant } from './admit-tenant.ts';
import { configurationNotFound } from './read-configuration.ts';

export interface DeleteConfigurationDependencies {
  db: Db;
  tenants: TenantRegistry;
}

/**
 * Deletes a configuration unless a component desires it. Checks in this order: it exists, the tenant owns it, it is the version that
 * is meant (`changed_since`), no component desires it (cfs-api 11); check and delete are one transaction that no component can slip into (cfs-api 15.14).
 */
export async function deleteConfiguration(
  deps: DeleteConfigurationDependencies,
  name: string,
  tenant: Tenant,
  precondition: Precondition = null,
): Promise<void> {
  await admitTenant(deps.tenants, tenant);
  await deps.db.transaction().execute(async (trx) => {
    const stored = await lockConfigurationAgainstDesire(trx, name);
    if (stored === undefined) throw configurationNotFound(name);
    refuseForeign(tenant, stored.record);
    requireVersion(name, stored, precondition);
    if (await isDesired(trx, name)) {
      const detail = `Configuration ${name} is referenced by the desired state of some components`;
      throw musterError('configuration_in_use', detail);
    }
    await deleteRecord(trx, name);
  });
}
