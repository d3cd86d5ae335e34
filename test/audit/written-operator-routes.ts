/** Routes of operators that write, with their audit records. */
import { addOperator, addWidget, FINALIZER } from '../operator/hands/fixtures.ts';
import type { TokenApi } from '../support/stack/token-api.ts';
import type { WrittenRoute } from './written-route.ts';

const OPERATOR = 'audited';

/** Records an operator with a widget that is due; returns the id of its resource. */
const widget = (name: string) => async (api: TokenApi) => {
  const { db } = api.deps;
  await addOperator(db, api.now.value, OPERATOR, FINALIZER);
  return addWidget(db, name, api.now.value, { operator: OPERATOR });
};

const onWidget = (verb: string): WrittenRoute => ({
  path: `/api/v1/operator/resources/{id}/${verb}`,
  prepare: widget(verb),
  records: [[verb, 'operator-resource', `demo.io/v1 Widget ns/${verb}`, null, null]],
});

export const OPERATOR_ROUTES: Record<string, WrittenRoute> = {
  'POST /api/v1/operator/resources/:id/reconcile': onWidget('reconcile'),
  'POST /api/v1/operator/resources/:id/cancel': onWidget('cancel'),
  'POST /api/v1/operator/resources/:id/pause': onWidget('pause'),
  'POST /api/v1/operator/resources/:id/resume': onWidget('resume'),
  'POST /api/v1/operator/drain': {
    path: '/api/v1/operator/drain',
    body: { operator: OPERATOR, run: false },
    prepare: widget('drained'),
    records: [['drain', 'operator', OPERATOR, null, null]],
  },
};
