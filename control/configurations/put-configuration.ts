import type { Acting } from '../../domain/access/acting.ts';
import {
  conflictingLayers,
  layerMistake,
  layerSecret,
  layersOf,
  withoutEmpty,
} from '../../domain/configurations/layer-rules.ts';
import type { TenantRegistry } from '../../domain/configurations/ports.ts';
import type { AdditionalInventory, Configuration, ConfigurationBody } from '../../domain/configurations/schema.ts';
import { ownerOfPut, refuseForeign, type Tenant } from '../../domain/configurations/tenancy.ts';
import { type Precondition, requireVersion } from '../../domain/configurations/version-tag.ts';
import { wireTime } from '../../domain/text/times.ts';
import {
  findConfiguration,
  insertConfiguration,
  lockConfiguration,
  type StoredConfiguration,
  updateConfiguration,
} from '../../store/configurations/configurations.ts';
import { readOptions } from '../../store/configurations/options.ts';
import { findSources } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { admitTenant } from './admit-tenant.ts';
import { holdKnownSources } from './hold-known-sources.ts';
import { type ResolveDependencies, resolutionDeadline, resolveBranches } from './resolve-branches.ts';
import { urlsOf } from './source-urls.ts';

export interface PutConfigurationDependencies extends ResolveDependencies {
  db: Db;
  tenants: TenantRegistry;
  clock(): Date;
  log: { warn(object: object, message: string): void };
}

export interface PutConfigurationOptions {
  /** Stores only the commits that branches were resolved to. */
  dropBranches: boolean;
  tenant: Tenant;
  /** What the stored version must be. */
  precondition?: Precondition;
  /**
   * The body has no version 3 members because its sender cannot know them: the stored `tenant_name` and `muster` stay, and losing
   * sources is logged (cfs-api 15.21, 15.23).
   */
  version2?: boolean;
}

/**
 * Creates or replaces a configuration (cfs-api 11). Checks the tenant, then layer by layer, resolves branches outside the
 * transaction, then stores it while its sources are held. The last PUT wins, but never over a record of another tenant, and never over
 * another version than the one that is meant: that is `changed_since`.
 */
export async function putConfiguration(
  deps: PutConfigurationDependencies,
  by: Acting,
  name: string,
  body: ConfigurationBody,
  options: PutConfigurationOptions,
): Promise<StoredConfiguration> {
  const owner = await checkOwner(deps, name, body, options);
  const secret = layerSecret(body);
  if (secret) throw secret;
  const sources = [...new Set(layersOf(body).flatMap(({ layer }) => layer.source || []))];
  const urls = urlsOf(await findSources(deps.db, sources));
  const known = new Set(urls.keys());
  for (const layer of layersOf(body)) {
    const mistake = layerMistake(layer, known);
    if (mistake) throw mistake;
  }
  const { layers, additional_inventory } = await resolveBranches(
    deps,
    {
      layers: body.layers.map(withoutEmpty),
      additional_inventory: body.additional_inventory && withoutEmpty(body.additional_inventory),
    },
    resolutionDeadline(),
  );
  const conflict = conflictingLayers(layers, urls, (await readOptions(deps.db)).default_playbook);
  if (conflict) throw conflict;
  const kept = <T extends AdditionalInventory>(layer: T): T => (options.dropBranches ? withoutBranch(layer) : layer);
  const now = deps.clock();
  const record: Configuration = {
    name,
    ...(body.description === undefined ? {} : { description: body.description }),
    last_updated: wireTime(now),
    layers: layers.map(kept),
    ...(additional_inventory ? { additional_inventory: kept(additional_inventory) } : {}),
    ...(owner === undefined ? {} : { tenant_name: owner }),
    ...(body.muster === undefined ? {} : { muster: body.muster }),
  };
  return deps.db.transaction().execute(async (trx) => {
    await holdKnownSources(trx, sources);
    return save(deps, by, trx, record, now, options);
  });
}

/** Whose the configuration will be; refuses who may not write it, or means another version, before any remote is asked. */
async function checkOwner(
  deps: PutConfigurationDependencies,
  name: string,
  body: ConfigurationBody,
  { tenant, precondition = null }: PutConfigurationOptions,
): Promise<string | undefined> {
  await admitTenant(deps.tenants, tenant);
  const owner = ownerOfPut(tenant, body.tenant_name);
  if (tenant === null && precondition === null) return owner;
  const stored = await findConfiguration(deps.db, name);
  if (stored) refuseForeign(tenant, stored.record);
  requireVersion(name, stored, precondition);
  return owner;
}

/** Writes the record over the one that is there now, which may be newer than the one that was checked. */
async function save(
  deps: PutConfigurationDependencies,
  by: Acting,
  trx: Db,
  record: Configuration,
  now: Date,
  { tenant, precondition = null, version2 = false }: PutConfigurationOptions,
): Promise<StoredConfiguration> {
  for (;;) {
    const before = await lockConfiguration(trx, record.name);
    requireVersion(record.name, before, precondition);
    if (before === undefined) {
      // Somebody else may make one of this name at the same moment.
      const made = await insertConfiguration(trx, record, now, by.actor);
      if (made !== undefined) return made;
      continue;
    }
    const stored = before.record;
    refuseForeign(tenant, stored);
    const next = version2 ? withUnknownOf(stored, record) : record;
    const written = await updateConfiguration(trx, next, now, by.actor);
    if (version2 && layersOf(stored).some(({ layer }) => layer.source)) {
      deps.log.warn({ configuration: record.name }, 'version 2 replaced layers with sources, which it cannot show');
    }
    return written;
  }
}

/** The record with what version 2 cannot show. */
function withUnknownOf({ tenant_name, muster }: Configuration, record: Configuration): Configuration {
  return {
    ...record,
    ...(tenant_name === undefined ? {} : { tenant_name }),
    ...(muster === undefined ? {} : { muster }),
  };
}

function withoutBranch<T extends AdditionalInventory>({ branch: _, ...rest }: T): T {
  return rest as T;
}
