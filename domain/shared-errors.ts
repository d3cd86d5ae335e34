import { type ErrorTable, kind } from './error-kind.ts';

/** Refusals that any lane may use. */
export const SHARED_ERRORS = {
  not_supported: kind(422, 'Not supported', 2),
} satisfies ErrorTable;
