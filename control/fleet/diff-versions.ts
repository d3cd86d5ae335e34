import {
  type ConfigurationDiff,
  type ConfigurationDiffQuery,
  CURRENT_VERSION,
} from '../../domain/configurations/history-schema.ts';
import { diffLayers, diffMembers } from '../../domain/configurations/layer-diff.ts';
import type { Layer } from '../../domain/configurations/schema.ts';
import { notKept } from '../../domain/configurations/version-history.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { configurationNotFound } from '../configurations/read-configuration.ts';
import { inOneState, type WalkedVersion, walkVersions } from './walk-versions.ts';

/** Members beside the layers, in the order in which they are shown. */
const OTHERS = ['description', 'additional_inventory', 'tenant_name', 'muster'];

/**
 * Returns what two versions of a configuration differ in; where there was none, it had no layers.
 * Throws `configuration_not_found`, `configuration_version_not_found`.
 */
export function diffVersions(db: Db, name: string, { from, to }: ConfigurationDiffQuery): Promise<ConfigurationDiff> {
  return inOneState(db, async (trx) => {
    const found = await findVersions(trx, name, [from, to]);
    const [before, after] = [found.get(from), found.get(to)].map((version) => version?.content ?? {});
    const not_kept = [...new Set([...notKept(before ?? {}), ...notKept(after ?? {})])];
    const layersOf = (content: { layers?: unknown } | undefined) =>
      not_kept.includes('layers') ? [] : ((content?.layers ?? []) as Layer[]);
    const others = OTHERS.filter((member) => !not_kept.includes(member));
    return {
      from,
      to,
      layers: diffLayers(layersOf(before), layersOf(after)),
      members: diffMembers(before ?? {}, after ?? {}, others),
      not_kept,
    };
  });
}

/** The versions of these ids. */
async function findVersions(trx: Db, name: string, ids: readonly string[]): Promise<Map<string, WalkedVersion>> {
  const open = new Set(ids);
  const found = new Map<string, WalkedVersion>();
  let isFirst = true;
  for await (const version of walkVersions(trx, name)) {
    const asked = [version.id, ...(isFirst ? [CURRENT_VERSION] : [])].filter((id) => open.delete(id));
    for (const id of asked) found.set(id, version);
    isFirst = false;
    if (open.size === 0) return found;
  }
  if (isFirst) throw configurationNotFound(name);
  const [missing] = open;
  throw musterError('configuration_version_not_found', `Configuration ${name} has no version ${missing} that is kept`);
}
