import { operatorQueueOf } from '../../domain/engine/task-queues.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { OpenReconcile } from '../../store/operator/due.ts';
import { resourcesDue } from '../../workflows/operator/messages.ts';
import type { WantedWorkflow } from '../temporal/tell.ts';

/** The workflow that begins reconciles, with the word that there may be something to begin. */
export function wantedDispatcher(operator: string): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.operatorDispatcher,
    workflowId: `operator/${operator}`,
    taskQueue: operatorQueueOf(operator),
    args: [{ operator }],
    staticSummary: `begins reconciles of operator ${operator}`,
    signal: resourcesDue,
  };
}

/** Id of the workflow of a resource's reconcile: a resource has one at a time. */
export function reconcileWorkflowId(operator: string, { uid, version }: { uid: string; version: string }): string {
  return `operator/${operator}/${uid}/${version}`;
}

/** What the memo of a reconcile's workflow says: its id names the resource by its uid alone, and its summary may be cut. */
export function reconcileMemo({ id, kind, namespace, name }: OpenReconcile): Record<string, string> {
  return { reconcile: id, kind, resource: namespace === '' ? name : `${namespace}/${name}` };
}

/** The workflow of a reconcile. A resource has one at a time, so its id names the resource. */
export function wantedReconcile(operator: string, reconcile: OpenReconcile): WantedWorkflow {
  const { id, machine, uid, version, kind, namespace, name } = reconcile;
  return {
    workflowType: WORKFLOWS.operatorReconcile,
    workflowId: reconcileWorkflowId(operator, { uid, version }),
    taskQueue: operatorQueueOf(operator),
    args: [{ reconcileId: id, machine }],
    staticSummary: `reconciles ${kind} ${namespace === '' ? name : `${namespace}/${name}`}`.slice(0, 200),
  };
}
