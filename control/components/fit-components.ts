import { fittingState, isTooLarge } from '../../domain/components/component-size.ts';
import type { Component, StateLayer } from '../../domain/components/schema.ts';
import { readSessionsSince } from '../../store/components/component-version.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { readDesiredLayers } from './desired-layers.ts';

/**
 * The components with states that are within their bounds, where an entry of `session` was added to one that others had filled:
 * the oldest entries of others go. Entries of sessions on record and of layers that the component desires go last.
 */
export async function fitComponents(trx: Db, components: Component[], session: string): Promise<Component[]> {
  const large = components.filter(isTooLarge);
  if (large.length === 0) return components;
  const reporters = [...new Set(large.flatMap(({ state }) => state.map(({ session_name }) => session_name)))];
  const own = await readSessionsSince(trx, reporters);
  const desired = await readDesiredLayers(trx, [...new Set(large.map(({ desired_config }) => desired_config))]);
  const { default_playbook: defaultPlaybook } = await readOptions(trx);
  const key = (url: string | undefined, playbook: string | undefined) =>
    JSON.stringify([url ?? '', playbook || defaultPlaybook]);
  const fitted = new Map(
    large.map((component) => {
      const layers = new Set(
        (desired.get(component.desired_config) ?? []).map(({ clone_url, playbook }) => key(clone_url, playbook)),
      );
      const isKept = (entry: StateLayer) =>
        own.has(entry.session_name) || layers.has(key(entry.clone_url, entry.playbook));
      return [component.id, { ...component, state: fittingState(component, session, isKept) }];
    }),
  );
  return components.map((component) => fitted.get(component.id) ?? component);
}
