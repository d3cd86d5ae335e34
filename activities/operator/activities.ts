import { dispatchReconciles } from '../../control/operator/dispatch.ts';
import type { OperatorSite } from '../../control/operator/operator-site.ts';
import { OperatorRefSchema, ReconcileRefSchema } from '../../domain/operator/activity-schema.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { OperatorActivities, OperatorMachineActivities } from './contract.ts';
import { finishReconcile } from './finish-reconcile.ts';
import { prepareReconcile } from './prepare-reconcile.ts';
import { type RunReconcileDependencies, runReconcile } from './run-reconcile.ts';

/** Work that any process of the operator may do. */
export function createOperatorActivities(site: OperatorSite): OperatorActivities {
  return parseInputs<OperatorActivities>(
    { dispatchReconciles: OperatorRefSchema, finishReconcile: ReconcileRefSchema },
    {
      dispatchReconciles: () => withHeartbeat(async () => ({ nextMs: await dispatchReconciles(site) })),
      finishReconcile: ({ reconcileId }) => withHeartbeat(() => finishReconcile(site, reconcileId)),
    },
  );
}

/** Work of this machine. */
export function createOperatorMachineActivities(deps: RunReconcileDependencies): OperatorMachineActivities {
  return parseInputs<OperatorMachineActivities>(
    { prepareReconcile: ReconcileRefSchema, runReconcile: ReconcileRefSchema },
    {
      prepareReconcile: ({ reconcileId }) =>
        withHeartbeat(async () => ({ runs: await prepareReconcile(deps, deps.here, reconcileId) })),
      runReconcile: ({ reconcileId }) => withHeartbeat((signal) => runReconcile(deps, reconcileId, signal)),
    },
  );
}
