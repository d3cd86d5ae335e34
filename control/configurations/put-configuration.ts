import type { Kysely } from 'kysely';
import {
  conflictingLayers,
  layerMistake,
  layersOf,
  sourceUnknown,
  withoutEmpty,
} from '../../domain/configurations/layer-rules.ts';
import type { AdditionalInventory, Configuration, ConfigurationBody } from '../../domain/configurations/schema.ts';
import { wireTime } from '../../domain/times.ts';
import { saveConfiguration } from '../../store/configurations.ts';
import { findSources, holdSources } from '../../store/sources.ts';
import type { Database } from '../../store/tables.ts';
import { type ResolveDependencies, resolveBranches } from './resolve-branches.ts';

export interface PutConfigurationDependencies extends ResolveDependencies {
  db: Kysely<Database>;
  clock(): Date;
}

/**
 * Creates or replaces a configuration (cfs-api 11). Checks layer by layer, resolves branches outside the transaction, then
 * stores it while its sources are held. The last PUT wins: nothing of an older record survives, so there is no comparison.
 */
export async function putConfiguration(
  deps: PutConfigurationDependencies,
  name: string,
  body: ConfigurationBody,
  { dropBranches }: { dropBranches: boolean },
): Promise<Configuration> {
  const names = [...new Set(layersOf(body).flatMap(({ layer }) => layer.source || []))];
  const sources = new Set((await findSources(deps.db, names)).keys());
  for (const layer of layersOf(body)) {
    const mistake = layerMistake(layer, sources);
    if (mistake) throw mistake;
  }
  const { layers, additional_inventory } = await resolveBranches(deps, {
    layers: body.layers.map(withoutEmpty),
    additional_inventory: body.additional_inventory && withoutEmpty(body.additional_inventory),
  });
  const conflict = conflictingLayers(layers);
  if (conflict) throw conflict;
  const kept = <T extends AdditionalInventory>(layer: T): T => (dropBranches ? withoutBranch(layer) : layer);
  const now = deps.clock();
  const record: Configuration = {
    name,
    ...(body.description === undefined ? {} : { description: body.description }),
    last_updated: wireTime(now),
    layers: layers.map(kept),
    ...(additional_inventory ? { additional_inventory: kept(additional_inventory) } : {}),
    ...(body.tenant_name === undefined ? {} : { tenant_name: body.tenant_name }),
  };
  await deps.db.transaction().execute(async (trx) => {
    const held = await holdSources(trx, names);
    const gone = names.find((source) => !held.has(source));
    if (gone !== undefined) throw sourceUnknown(gone);
    await saveConfiguration(trx, record, now);
  });
  return record;
}

function withoutBranch<T extends AdditionalInventory>({ branch: _, ...rest }: T): T {
  return rest as T;
}
