import { controller, type ErrorTable, kind } from '../error-kind.ts';

/** Secrets and their key. */
export const SECRET_ERRORS = {
  secret_not_found: kind(404, 'Secret not found', 3, { advice: '`./muster secret list` shows the secrets' }),
  secret_in_use: kind(409, 'Secret is in use', 5, {
    advice: '`./muster secret usage NAME` shows by what; `--force` deletes it all the same',
  }),
  secret_unreadable: controller(500, 'Secret cannot be read', 1),
  secret_key_elsewhere: kind(409, 'Key of the secrets is elsewhere', 5),
  secret_malformed: kind(400, 'Secret has another form', 2),
  secret_store_unavailable: controller(503, 'Service Unavailable', 7, { retryable: true }),
} satisfies ErrorTable;
