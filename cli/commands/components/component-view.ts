import type { Component, ConfigurationStatus, StateLayer } from '../../../domain/components/schema.ts';
import type { Layer } from '../../../domain/configurations/schema.ts';
import { cell, tagCell, type View } from '../../output/columns.ts';
import { fieldList, table } from '../../output/table.ts';

/** A component as the v3 routes answer it; state and details only where they were asked for (cfs-api 6). */
export type ComponentAnswer = Omit<Component, 'state'> & {
  state?: StateLayer[];
  configuration_status?: ConfigurationStatus;
  desired_state?: (Layer & { status: ConfigurationStatus })[];
  logs?: string;
};

export const componentView: View<ComponentAnswer> = {
  noun: 'components',
  name: (component) => component.id,
  columns: [
    { title: 'ID', value: (component) => component.id },
    { title: 'STATUS', value: (component) => cell(component.configuration_status) },
    { title: 'DESIRED', value: (component) => component.desired_config },
    { title: 'ERRORS', value: (component) => String(component.error_count) },
    { title: 'ENABLED', value: (component) => (component.enabled ? 'yes' : 'no') },
    { title: 'RETRIES', value: (component) => cell(component.retry_policy), wide: true },
    { title: 'TAGS', value: (component) => tagCell(component.tags), wide: true },
  ],
};

/** A component for people: its fields, what it should reach and what it reached. */
export function componentDetails(component: ComponentAnswer, wide: boolean, trouble: string | null = null): string {
  const commit = (text: string | undefined): string => cell(wide ? text : text?.slice(0, 12));
  const fields = fieldList([
    ['id', component.id],
    ['status', cell(component.configuration_status)],
    ['desired configuration', component.desired_config],
    ['errors', String(component.error_count)],
    ['last failure', cell(trouble)],
    ['why', usedUpText(component)],
    ['retry policy', cell(component.retry_policy)],
    ['enabled', component.enabled ? 'yes' : 'no'],
    ['boot', cell(component.muster?.boot)],
    ['tags', tagCell(component.tags)],
    ['logs', cell(component.logs)],
  ]);
  const desired = component.desired_state ?? [];
  const reached = component.state ?? [];
  const desiredTable = table(
    [
      { title: 'DESIRED LAYER', value: (layer) => layer.name ?? cell(layer.playbook) },
      { title: 'STATUS', value: (layer) => layer.status },
      { title: 'COMMIT', value: (layer) => commit(layer.commit) },
      { title: 'REPOSITORY', value: (layer) => cell(layer.source ?? layer.clone_url) },
    ],
    desired,
  );
  const reachedTable = table(
    [
      { title: 'REACHED', value: (layer) => layer.playbook },
      { title: 'STATUS', value: (layer) => layer.status },
      { title: 'COMMIT', value: (layer) => commit(layer.commit) },
      { title: 'SESSION', value: (layer) => layer.session_name },
      { title: 'AT', value: (layer) => layer.last_updated },
      { title: 'REPOSITORY', value: (layer) => layer.clone_url },
    ],
    reached,
  );
  return [fields, desired.length > 0 ? desiredTable : '', reached.length > 0 ? reachedTable : '']
    .filter((text) => text !== '')
    .join('\n');
}

/**
 * What a person should know of a component whose tries are used up: how many, of which commit, and what makes it be tried again. A new
 * commit alone does not: errors are forgotten when a desired configuration is set.
 */
function usedUpText({ id, configuration_status, error_count, state = [] }: ComponentAnswer): string {
  const last = state.findLast(({ status }) => status === 'failed');
  if (configuration_status !== 'failed' || error_count < 1) return '';
  const tries = error_count === 1 ? '1 try' : `${error_count} tries`;
  const what = last === undefined ? tries : `${tries} of commit ${last.commit.slice(0, 12)}`;
  return `used up ${what}; ./muster component reset-errors ${id}`;
}
