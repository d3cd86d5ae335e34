import { controller, type ErrorTable } from '../error-kind.ts';

/** The certificate authority. */
export const TRUST_ERRORS = {
  trust_not_ready: controller(404, 'No certificate authority yet', 3),
  trust_unavailable: controller(502, 'Certificate authority is not available', 1, { retryable: true }),
} satisfies ErrorTable;
