import { wireTime } from '../text/times.ts';
import { requireComponentSize } from './component-size.ts';
import type { Component, ComponentBody } from './schema.ts';
import { appendStateLayer, layerOfAppend, stampStateLayers } from './state-layers.ts';
import { mergeTags } from './tags.ts';

/** The record that a PUT leaves: nothing of an older one survives, what is absent is filled (cfs-api 6.3.5). */
export function putComponent(id: string, body: ComponentBody, now: Date): Component {
  const empty: Component = { id, state: [], desired_config: '', error_count: 0, enabled: false, tags: {} };
  return patchComponent(empty, body, now);
}

/**
 * The stored record after a PATCH: `state` replaces, then `state_append` is applied; tags merge (cfs-api 6.3). `bad_request` when it
 * would grow beyond the bounds of a component.
 */
export function patchComponent(stored: Component, body: ComponentBody, now: Date): Component {
  const time = wireTime(now);
  const replaced = body.state === undefined ? stored.state : stampStateLayers(body.state, stored.state, time);
  const state =
    body.state_append === undefined ? replaced : appendStateLayer(replaced, layerOfAppend(body.state_append, time));
  const retryPolicy = body.retry_policy ?? stored.retry_policy;
  const muster = body.muster ?? stored.muster;
  const patched: Component = {
    id: stored.id,
    state,
    desired_config: body.desired_config ?? stored.desired_config,
    error_count: errorCountAfter(stored.error_count, body),
    ...(retryPolicy === undefined ? {} : { retry_policy: retryPolicy }),
    enabled: body.enabled ?? stored.enabled,
    tags: mergeTags(stored.tags, body.tags ?? {}),
    ...(muster === undefined ? {} : { muster }),
  };
  requireComponentSize(stored, patched, body);
  return patched;
}

/** Members that a write can change. */
export const WRITABLE_MEMBERS = [
  'state',
  'desired_config',
  'error_count',
  'retry_policy',
  'enabled',
  'tags',
  'muster',
] as const;
export type WritableMember = (typeof WRITABLE_MEMBERS)[number];

/** The members that a PATCH may change; all others of a component stay as they are stored. */
export function patchedMembers(body: ComponentBody): Set<WritableMember> {
  const members = new Set(WRITABLE_MEMBERS.filter((member) => body[member] !== undefined));
  if (body.state_append !== undefined) members.add('state');
  if (resetsErrors(body)) members.add('error_count');
  return members;
}

/** An explicit count wins; a desired configuration, even unchanged, or an emptied state resets it (cfs-api 6.3.2). */
function errorCountAfter(stored: number, body: ComponentBody): number {
  if (body.error_count !== undefined) return body.error_count;
  return resetsErrors(body) ? 0 : stored;
}

function resetsErrors(body: ComponentBody): boolean {
  return body.desired_config !== undefined || body.state?.length === 0;
}
