import type { Configuration, Layer } from '../../../domain/configurations/schema.ts';
import { cell, type View } from '../../output/columns.ts';
import { policyText } from '../../output/policy-text.ts';
import { fieldList, table } from '../../output/table.ts';

export const configurationView: View<Configuration> = {
  noun: 'configurations',
  name: (configuration) => configuration.name,
  columns: [
    { title: 'NAME', value: (configuration) => configuration.name },
    { title: 'LAYERS', value: (configuration) => configuration.layers.map(layerName).join(', ') },
    { title: 'UPDATED', value: (configuration) => configuration.last_updated },
    { title: 'DESCRIPTION', value: (configuration) => cell(configuration.description), wide: true },
    {
      title: 'ADDITIONAL INVENTORY',
      value: ({ additional_inventory: extra }) => cell(extra?.source ?? extra?.clone_url),
      wide: true,
    },
  ],
};

const layerName = (layer: Layer): string => layer.name ?? cell(layer.playbook);

/** A configuration for people: its fields, then its layers. */
export function configurationDetails(configuration: Configuration, wide: boolean): string {
  const extra = configuration.additional_inventory;
  const fields = fieldList([
    ['name', configuration.name],
    ['description', cell(configuration.description)],
    ['updated', configuration.last_updated],
    ['tenant', cell(configuration.tenant_name)],
    ['additional inventory', cell(extra?.source ?? extra?.clone_url)],
    ['rollout', policyText(configuration.muster?.rollout)],
  ]);
  const layers = table(
    [
      { title: 'LAYER', value: ({ index }) => `${index + 1}/${configuration.layers.length}` },
      { title: 'NAME', value: ({ layer }) => cell(layer.name) },
      { title: 'REPOSITORY', value: ({ layer }) => cell(layer.source ?? layer.clone_url) },
      { title: 'PLAYBOOK', value: ({ layer }) => cell(layer.playbook) },
      { title: 'COMMIT', value: ({ layer }) => cell(wide ? layer.commit : layer.commit?.slice(0, 12)) },
      { title: 'BRANCH', value: ({ layer }) => cell(layer.branch) },
    ],
    configuration.layers.map((layer, index) => ({ layer, index })),
  );
  return `${fields}\n${layers}`;
}
