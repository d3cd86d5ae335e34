import { type ErrorTable, kind } from '../error-kind.ts';

/** Custom resources that playbooks and roles reconcile. */
export const OPERATOR_ERRORS = {
  operator_not_known: kind(404, 'Operator not found', 3, { advice: '`./muster operator watches` shows the operators' }),
  operator_resource_not_found: kind(404, 'Resource of an operator not found', 3, {
    advice: '`./muster operator list` shows the resources',
  }),
  operator_reconcile_not_found: kind(404, 'Reconcile not found', 3, {
    advice: '`./muster operator reconciles KIND NAME` shows the reconciles of a resource',
  }),
  operator_paused: kind(409, 'Resource is paused', 5, {
    advice: '`./muster operator resume KIND NAME` lets it run again',
  }),
  watches_invalid: kind(400, 'File of watches has mistakes', 2),
} satisfies ErrorTable;
