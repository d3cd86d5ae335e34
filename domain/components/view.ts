import type { Component, ComponentView, DesiredLayer } from './schema.ts';
import type { ComponentStatus } from './status.ts';

export interface ViewDetails {
  /** Whether `state` is shown. */
  state: boolean;
  /** Layers for `desired_state`; undefined: not asked for. */
  desiredState: DesiredLayer[] | undefined;
  logs: string | undefined;
}

/** A component as GET shows it (cfs-api 6.1, 6.5). */
export function componentView(component: Component, { status }: ComponentStatus, details: ViewDetails): ComponentView {
  const { state, ...record } = component;
  return {
    ...record,
    ...(details.state ? { state } : {}),
    configuration_status: status,
    ...(details.desiredState ? { desired_state: details.desiredState } : {}),
    ...(details.logs === undefined ? {} : { logs: details.logs }),
  };
}

/** Where a component's logs are: ARA where there is one, else the API's own page of its state. */
export function componentLogs(id: string, bases: { araUrl: string | undefined; publicUrl: string }): string {
  const encoded = encodeURIComponent(id);
  if (bases.araUrl !== undefined) return `${bases.araUrl}/hosts?name=${encoded}`;
  return `${bases.publicUrl}/v3/components/${encoded}?state_details=true`;
}
