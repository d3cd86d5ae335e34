import type { DriftDetail, DriftItem } from '../../../domain/components/drift-schema.ts';
import type { View } from '../../output/columns.ts';
import { layerWords } from '../../output/layers.ts';
import { fieldList, table } from '../../output/table.ts';

/** How what is known of drift is listed, one line a component. */
export const driftView: View<DriftItem> = {
  noun: 'records of drift',
  name: (item) => item.id,
  columns: [
    { title: 'ID', value: (item) => item.id },
    { title: 'STATUS', value: (item) => item.status },
    { title: 'CONFIGURATION', value: (item) => item.configuration },
    { title: 'CHANGES', value: (item) => String(item.changed) },
    {
      title: 'LAYERS',
      value: (item) => item.layers.map(({ layer, status }) => `${layer + 1}:${status}`).join(', '),
      data: (item) => item.layers.map(({ layer, status }) => `${layer}:${status}`).join(', '),
    },
    { title: 'CHECKED', value: (item) => item.checked_at },
    { title: 'SESSION', value: (item) => item.layers.at(-1)?.session_name ?? '', wide: true },
  ],
};

/** One component for people: its layers, and every task that would change it, with what would change. */
export function driftDetails(item: DriftDetail): string {
  const fields = fieldList([
    ['id', item.id],
    ['status', item.status],
    ['configuration', item.configuration],
    ['changes', String(item.changed)],
    ['uncertain', item.uncertain > 0 ? `${item.uncertain}, no drift: see below` : '0'],
    ['checked', item.checked_at],
  ]);
  const layers = table(
    [
      { title: 'LAYER', value: ({ layer }) => String(layer + 1) },
      { title: 'PLAYBOOK', value: ({ playbook }) => playbook },
      { title: 'STATUS', value: ({ status }) => status },
      { title: 'CHANGES', value: ({ changed }) => String(changed) },
      { title: 'COMMIT', value: ({ commit }) => commit.slice(0, 12) },
      { title: 'SESSION', value: ({ session_name }) => session_name },
    ],
    item.layers,
  );
  return [fields, layers, ...item.layers.flatMap(changesOf)].join('\n');
}

function changesOf({ layer, changes, changes_left_out: more }: DriftDetail['layers'][number]): string[] {
  const told = changes.map(({ task, action, file, diff, censored, uncertain }) => {
    const place = file === undefined ? '' : ` at ${file}`;
    const what = censored ? 'hidden by no_log\n' : (diff ?? '');
    const doubt = uncertain === undefined ? '' : `uncertain: ${uncertain}\n`;
    return `${layerWords(layer)}: ${task} (${action}${place})\n${doubt}${what === '' || what.endsWith('\n') ? what : `${what}\n`}`;
  });
  return more === 0 ? told : [...told, `${layerWords(layer)}: ${more} more tasks\n`];
}
