import type { TenantRegistry } from '../../domain/configurations/ports.ts';
import type { Configuration, InUseListQuery } from '../../domain/configurations/schema.ts';
import { refuseForeign, type Tenant } from '../../domain/configurations/tenancy.ts';
import { type MusterError, musterError } from '../../domain/errors.ts';
import {
  findConfiguration,
  pageConfigurations,
  type StoredConfiguration,
} from '../../store/configurations/configurations.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { onePage, type Page } from '../changes/pages.ts';
import { admitTenant } from './admit-tenant.ts';

export interface ReadConfigurationDependencies {
  db: Db;
  tenants: TenantRegistry;
}

export function configurationNotFound(name: string): MusterError {
  return musterError('configuration_not_found', `Configuration ${name} could not be found`);
}

/** The configuration whosever it is, or `configuration_not_found`. */
export async function getConfiguration(db: Db, name: string): Promise<StoredConfiguration> {
  const found = await findConfiguration(db, name);
  if (found === undefined) throw configurationNotFound(name);
  return found;
}

/** The configuration as a tenant may see it: an unknown tenant is refused first, a foreign configuration is 403. */
export async function getConfigurationFor(
  deps: ReadConfigurationDependencies,
  name: string,
  tenant: Tenant,
): Promise<StoredConfiguration> {
  await admitTenant(deps.tenants, tenant);
  const stored = await getConfiguration(deps.db, name);
  refuseForeign(tenant, stored.record);
  return stored;
}

/** One page of the configurations that a tenant may see, in the order of their names (cfs-api 3, 11). */
export async function listConfigurations(
  deps: ReadConfigurationDependencies,
  query: InUseListQuery,
  tenant: Tenant,
): Promise<Page<Configuration>> {
  await admitTenant(deps.tenants, tenant);
  const limit = query.limit ?? (await readOptions(deps.db)).default_page_size;
  const page = { inUse: query.in_use, afterName: query.after_id ?? '', tenant };
  return onePage(limit, (rows) => pageConfigurations(deps.db, { ...page, limit: rows }));
}
