import { foundSource } from '../configurations/layer-rules.ts';
import type { Configuration, Options } from '../configurations/schema.ts';
import { musterError } from '../errors.ts';
import { selectLayers } from './layer-selection.ts';
import type { Snapshot, SnapshotRepository } from './schema.ts';

/** Configurations of such a name run a built-in playbook unless one is stored (cfs-flows 1.6). */
const DEBUG_PREFIX = 'debug_';

/** The sources that exist, by name. */
type SnapshotSources = ReadonlyMap<string, { clone_url: string }>;

type DefaultOptions = Pick<Options, 'additional_inventory_url' | 'additional_inventory_source' | 'default_playbook'>;

export interface SnapshotInput {
  configurationName: string;
  /** The stored configuration, null where there is none of the name. */
  configuration: Configuration | null;
  /** Whether a `debug_<x>` name may mean a built-in playbook: not in v2 (cfs-api 9). */
  debugNames: boolean;
  /** The session's configuration limit, '' for none. */
  limit: string;
  ansibleConfig: string;
  options: DefaultOptions;
  sources: SnapshotSources;
}

interface RepositoryFields {
  clone_url?: string | undefined;
  source?: string | undefined;
  commit?: string | undefined;
}

/** Names of the sources that a snapshot of the configuration reads. */
export function sourcesOf(configuration: Configuration | null, options: DefaultOptions): string[] {
  const layers: RepositoryFields[] = [...(configuration?.layers ?? []), configuration?.additional_inventory ?? {}];
  const names = [...layers.map((layer) => layer.source), options.additional_inventory_source];
  return [...new Set(names.filter((name): name is string => name !== undefined && name !== ''))];
}

function repository(fields: RepositoryFields, sources: SnapshotSources): SnapshotRepository {
  const commit = fields.commit ?? null;
  if (fields.source === undefined) return { url: fields.clone_url ?? '', source: null, commit };
  return { url: foundSource(fields.source, sources.get(fields.source)).clone_url, source: fields.source, commit };
}

/** The configuration's own additional inventory wins, then the option for a source, then the one for a URL (cfs-flows 2.2). */
function additionalInventory({ configuration, options, sources }: SnapshotInput): SnapshotRepository | null {
  if (configuration?.additional_inventory) return repository(configuration.additional_inventory, sources);
  if (options.additional_inventory_source) {
    return repository({ source: options.additional_inventory_source }, sources);
  }
  if (options.additional_inventory_url) return repository({ clone_url: options.additional_inventory_url }, sources);
  return null;
}

/**
 * What a session will run, fixed at its creation: the selected layers with URL, commit and playbook, the additional
 * inventory and the Ansible configuration. Without a stored configuration a `debug_<x>` name gives the built-in playbook
 * x where such names are allowed. Throws `configuration_invalid` for an unknown name, `source_unknown` for a source that is gone.
 */
export function buildSnapshot(input: SnapshotInput): Snapshot {
  const { configurationName, configuration, debugNames, limit, ansibleConfig, options, sources } = input;
  if (configuration === null && !(debugNames && configurationName.startsWith(DEBUG_PREFIX))) {
    throw musterError('configuration_invalid', `No configurations exist named ${configurationName}`);
  }
  const layers = configuration?.layers ?? [];
  const requireDkms = layers.some((layer) => layer.special_parameters?.ims_require_dkms);
  return {
    layers: selectLayers(layers, limit).flatMap((index) => {
      const layer = layers[index];
      if (layer === undefined) return [];
      return [
        {
          ...repository(layer, sources),
          index,
          name: layer.name ?? null,
          playbook: layer.playbook || options.default_playbook,
          require_dkms: requireDkms,
        },
      ];
    }),
    additional_inventory: additionalInventory(input),
    debug_playbook: configuration === null ? configurationName.slice(DEBUG_PREFIX.length) : null,
    ansible_config: ansibleConfig,
    ...(configuration?.tenant_name ? { tenant_name: configuration.tenant_name } : {}),
  };
}
