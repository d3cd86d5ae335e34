import { type ErrorTable, kind } from '../error-kind.ts';

/** Custom resources that playbooks and roles reconcile. */
export const OPERATOR_ERRORS = {
  watches_invalid: kind(400, 'File of watches has mistakes', 2),
} satisfies ErrorTable;
