/** Why a component has its status, in a few words for people. Layers are counted from 1. */
import type { Component } from './schema.ts';
import type { ComponentStatus, DesiredLayerFacts, StatusOptions } from './status.ts';

export interface WhyFacts {
  component: Pick<Component, 'desired_config' | 'state' | 'error_count' | 'retry_policy' | 'enabled'>;
  /** As `configurationStatus` says it of that component and these layers. */
  status: ComponentStatus;
  /** Layers of the desired configuration; null where none is desired, or there is none of the name. */
  layers: readonly DesiredLayerFacts[] | null;
  options: StatusOptions;
}

/** Returns the reason; what is disabled and not configured says that nothing starts by itself. */
export function whyOf(facts: WhyFacts): string {
  const { enabled } = facts.component;
  const why = reasonOf(facts);
  return enabled || facts.status.status === 'configured' ? why : `${why}; disabled: nothing starts by itself`;
}

/** Returns how often a component may be tried; -1: without end. */
export function triesOf({ retry_policy }: WhyFacts['component'], options: StatusOptions): number {
  return retry_policy ?? options.default_batcher_retry_policy;
}

function reasonOf({ component, status: { status, layers: statuses }, layers, options }: WhyFacts): string {
  const { desired_config: desired, state } = component;
  if (desired === '') {
    return state.length === 0 ? 'no configuration is desired' : 'no configuration is desired; what it reached stays';
  }
  if (layers === null) return `there is no configuration ${desired}`;
  if (layers.length === 0) return 'its configuration has no layers';
  if (status === 'configured')
    return layers.length === 1 ? 'its layer is reached' : `all ${layers.length} layers are reached`;
  // A status of the whole that no layer has comes of the tries alone: then the first layer that is not reached is meant.
  const worst = statuses.indexOf(status);
  const place = worst >= 0 ? worst : statuses.findIndex((one) => one !== 'configured');
  const layer = layers[place] ?? {};
  const playbook = layer.playbook || options.default_playbook;
  const name = `layer ${place + 1}/${layers.length} ${playbook}`;
  if (status === 'unconfigured') return `${name} has no ${layer.clone_url ? 'commit' : 'repository'}`;
  const reached = state.find(
    (entry) => entry.clone_url === layer.clone_url && entry.playbook === playbook && entry.commit === layer.commit,
  );
  return `${name} ${standingOf(reached)} (${errorsOf(component, options)})`;
}

function standingOf(reached: Component['state'][number] | undefined): string {
  if (reached === undefined) return 'is not reached yet';
  const session = reached.session_name === '' ? '' : ` in session ${reached.session_name}`;
  return reached.status === 'failed' ? `failed${session}` : `was broken off${session}`;
}

function errorsOf(component: WhyFacts['component'], options: StatusOptions): string {
  const tries = triesOf(component, options);
  return tries === -1
    ? `errors ${component.error_count}, tried without end`
    : `errors ${component.error_count} of ${tries}`;
}
