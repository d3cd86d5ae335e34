import type { DeploymentView } from '../../../domain/deployments/deployment-schema.ts';
import { cell, type View } from '../../output/columns.ts';

/** How deployments are listed. */
export const deploymentView: View<DeploymentView> = {
  noun: 'deployments',
  name: ({ name }) => name,
  columns: [
    { title: 'DEPLOYMENT', value: ({ name }) => name },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'STATUS', value: ({ status }) => cell(status) },
    { title: 'RESOURCES', value: ({ counts }) => countsText(counts) },
    { title: 'READY', value: ({ ready }) => cell(ready) },
    { title: 'APPS', value: ({ apps }) => apps.join(',') },
    { title: 'CHANGED', value: ({ changed_at }) => changed_at },
    { title: 'INSTANCE', value: ({ instance }) => cell(instance), wide: true },
    { title: 'REVISION', value: ({ revision }) => cell(revision), wide: true },
    { title: 'BY', value: ({ changed_by }) => cell(changed_by), wide: true },
  ],
};

/** Returns counts as `5 Applied, 1 Failed`. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([word, count]) => `${count} ${word}`)
    .join(', ');
}
