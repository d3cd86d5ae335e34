import { controller, type ErrorTable, kind } from '../error-kind.ts';

/** Components, their drift, their leases, and inventories of them. */
export const COMPONENT_ERRORS = {
  component_not_found: kind(404, 'Component not found.', 3, {
    advice: '`./muster component list` shows the components',
  }),
  bad_tags: kind(400, 'Error parsing the tags provided.', 2),
  bad_data: kind(400, 'Error parsing the data provided.', 2),
  bad_hostlist: kind(400, 'Hostlist not understood', 2, {
    advice: 'write names and ranges such as n[1-4],!n3; `\\` before a character takes it as it is',
  }),
  hostlist_too_large: kind(400, 'Hostlist is too large', 2, {
    advice: 'select by a tag or a status, or in several parts',
  }),
  selection_gone: kind(410, 'Selection is gone', 3, {
    advice: 'select again: a selection is kept for 15 minutes',
  }),
  drift_not_found: kind(404, 'Drift not known', 3, {
    advice: '`./muster drift list` shows what is known; `./muster drift check` finds it out',
  }),
  components_busy: kind(409, 'Components are in another session', 5, { retryable: true }),
  inventory_failed: controller(502, 'Inventory failed', 1, { retryable: true }),
  inventory_empty: kind(400, 'Inventory has no host', 1),
  inventory_invalid: controller(400, 'Inventory cannot be written', 1),
} satisfies ErrorTable;
