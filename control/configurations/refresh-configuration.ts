import type { Acting } from '../../domain/access/acting.ts';
import { refuseForeign, type Tenant } from '../../domain/configurations/tenancy.ts';
import { type Precondition, requireVersion } from '../../domain/configurations/version-tag.ts';
import { musterError } from '../../domain/errors.ts';
import { wireTime } from '../../domain/text/times.ts';
import { type StoredConfiguration, updateConfigurationIfUnchanged } from '../../store/configurations/configurations.ts';
import { admitTenant } from './admit-tenant.ts';
import type { PutConfigurationDependencies } from './put-configuration.ts';
import { getConfiguration } from './read-configuration.ts';
import { resolutionDeadline, resolveBranches } from './resolve-branches.ts';

/**
 * How often it asks when the record was written while the remotes were asked. Of many refreshes at the same moment one gets
 * through each time, so it is more than the requests that processes work on at once.
 */
const ATTEMPTS = 50;

/**
 * Resolves every branch of a stored configuration anew (PATCH, cfs-api 11). The remotes are asked outside the transaction;
 * what was written meanwhile is never overwritten. Throws `changed_since` when the stored version is not the one that is meant.
 */
export async function refreshConfiguration(
  deps: Omit<PutConfigurationDependencies, 'log'>,
  by: Acting,
  name: string,
  tenant: Tenant,
  precondition: Precondition = null,
): Promise<StoredConfiguration> {
  await admitTenant(deps.tenants, tenant);
  const deadline = resolutionDeadline();
  for (let attempt = 0; attempt < ATTEMPTS && !deadline.aborted; attempt++) {
    const stored = await getConfiguration(deps.db, name);
    const { record, revision } = stored;
    refuseForeign(tenant, record);
    requireVersion(name, stored, precondition);
    const resolved = await resolveBranches(deps, record, deadline);
    const now = deps.clock();
    const next = { ...record, ...resolved, last_updated: wireTime(now) };
    const written = await updateConfigurationIfUnchanged(deps.db, next, revision, now, by.actor);
    if (written !== undefined) return written;
  }
  throw musterError('changed_meanwhile', `Configuration ${name} is being changed by others; try again.`);
}
