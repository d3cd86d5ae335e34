import type { TenantRegistry } from '../../domain/configurations/ports.ts';
import type { Tenant } from '../../domain/configurations/tenancy.ts';
import { musterError } from '../../domain/errors.ts';

/** Refuses a tenant that the registry does not know, before anything else is looked at (cfs-api 11). */
export async function admitTenant(tenants: TenantRegistry, tenant: Tenant): Promise<void> {
  if (tenant === null || (await tenants.hasTenant(tenant))) return;
  throw musterError('invalid_tenant', `There is no tenant ${tenant}`);
}
