/** What actions on many components write into each of them. */
import type { Component, ComponentBody } from './schema.ts';
import type { ActionBody } from './selection-schema.ts';
import type { WritableMember } from './write-component.ts';

/** The patch that an action is for each component; null for `delete`. */
export function patchOfAction(body: ActionBody): ComponentBody | null {
  switch (body.action) {
    case 'enable':
      return { enabled: true };
    case 'disable':
      return { enabled: false };
    case 'clear_state':
      return { state: [] };
    case 'reset_errors':
      return { error_count: 0 };
    case 'delete':
      return null;
    default:
      return body.args;
  }
}

/** Whether a patch of these members has made another component. */
export function isChanged(before: Component, after: Component, members: ReadonlySet<WritableMember>): boolean {
  return [...members].some((member) => JSON.stringify(before[member]) !== JSON.stringify(after[member]));
}
