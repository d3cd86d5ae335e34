import { type ErrorTable, kind } from '../error-kind.ts';

/** Webhooks. */
export const WEBHOOK_ERRORS = {
  webhook_not_found: kind(404, 'Webhook not found', 3, { advice: '`./muster webhook list` shows the webhooks' }),
  webhook_exists: kind(409, 'Conflicting webhook name', 5),
  webhook_address_masked: kind(400, 'Address is not whole', 2),
} satisfies ErrorTable;
