import { musterError } from '../errors.ts';
import type { Configuration } from './schema.ts';

/** The tenant that a request is made for; null is the administrator, who sees and does everything (cfs-api 11). */
export type Tenant = string | null;

/** Refuses (403) a tenant's hand on a configuration that is not its own; one without owner is the administrator's. */
export function refuseForeign(tenant: Tenant, record: Pick<Configuration, 'name' | 'tenant_name'>): void {
  if (tenant === null || record.tenant_name === tenant) return;
  throw musterError('tenant_forbidden', `Configuration ${record.name} does not belong to tenant ${tenant}`);
}

/**
 * The `tenant_name` that a PUT stores. A tenant owns what it writes and cannot give it away (403); the administrator's body
 * says whose it is.
 */
export function ownerOfPut(tenant: Tenant, asked: string | undefined): string | undefined {
  if (tenant === null) return asked;
  if (asked && asked !== tenant) {
    throw musterError('tenant_forbidden', `tenant_name is ${tenant} and cannot become ${asked}`, 'tenant_name');
  }
  return tenant;
}
