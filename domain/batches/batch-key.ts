import type { ConfigurationStatus, LayerState } from '../components/schema.ts';
import type { DesiredLayerFacts } from '../components/status.ts';

/** Comma list of the indices of pending layers, ascending: the `configuration_limit` of the session to come. */
export function pendingLayers(statuses: readonly ConfigurationStatus[]): string {
  const indices: number[] = [];
  for (const [index, status] of statuses.entries()) if (status === 'pending') indices.push(index);
  return indices.join(',');
}

/** Which components may share a session: the same configuration, pending layers and status of the last report (cfs-flows 5.2). */
export function batchKey(configuration: string, layers: string, lastStatus: LayerState | ''): string {
  return `${configuration}:${layers}:${lastStatus}`;
}

/**
 * A text that changes with commit or playbook of any desired layer, and with nothing else: the URL is not part of it
 * (cfs-flows 5.2). What is stored is a hash of it.
 */
export function desiredText(layers: readonly DesiredLayerFacts[], defaultPlaybook: string): string {
  return JSON.stringify(layers.map((layer) => [layer.commit ?? '', layer.playbook || defaultPlaybook]));
}
