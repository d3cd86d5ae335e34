import type { Options } from '../configurations/schema.ts';
import type { Component, ConfigurationStatus, StateLayer } from './schema.ts';
import { CONFIGURATION_STATUSES } from './schema.ts';

/** What of a desired layer decides; `clone_url` is that of its source where the layer names one. */
export interface DesiredLayerFacts {
  clone_url?: string | undefined;
  playbook?: string | undefined;
  commit?: string | undefined;
}

export type StatusOptions = Pick<Options, 'default_batcher_retry_policy' | 'default_playbook'>;

export interface ComponentStatus {
  status: ConfigurationStatus;
  /** One a layer, in the configuration's order. */
  layers: ConfigurationStatus[];
}

/**
 * `configuration_status` of a component and of each desired layer (cfs-api 7). `layers` is `null` when no configuration is
 * desired or the desired one does not exist. Enabled, tags and sessions do not matter.
 */
export function configurationStatus(
  component: Pick<Component, 'state' | 'error_count' | 'retry_policy'>,
  layers: readonly DesiredLayerFacts[] | null,
  options: StatusOptions,
): ComponentStatus {
  if (layers === null) return { status: component.state.length === 0 ? 'unconfigured' : 'configured', layers: [] };
  const retries = component.retry_policy ?? options.default_batcher_retry_policy;
  const exhausted = retries !== -1 && component.error_count >= retries;
  const statuses = layers.map((layer) => layerStatus(component.state, layer, exhausted, options.default_playbook));
  const worst = statuses.reduce(worse, 'configured');
  return { status: worst === 'pending' && exhausted ? 'failed' : worst, layers: statuses };
}

function layerStatus(
  state: readonly StateLayer[],
  layer: DesiredLayerFacts,
  exhausted: boolean,
  defaultPlaybook: string,
): ConfigurationStatus {
  const playbook = layer.playbook || defaultPlaybook;
  if (!layer.commit || !layer.clone_url || !playbook) return 'unconfigured';
  const reached = state.find(
    (entry) => entry.clone_url === layer.clone_url && entry.playbook === playbook && entry.commit === layer.commit,
  );
  if (reached === undefined) return 'pending';
  if (reached.status === 'failed') return exhausted ? 'failed' : 'pending';
  return reached.status === 'incomplete' ? 'pending' : 'configured';
}

/** The order of the statuses, worst first, is that of the enumeration. */
function worse(a: ConfigurationStatus, b: ConfigurationStatus): ConfigurationStatus {
  return CONFIGURATION_STATUSES.indexOf(a) <= CONFIGURATION_STATUSES.indexOf(b) ? a : b;
}
