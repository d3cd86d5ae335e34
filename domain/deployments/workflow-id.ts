/** Workflow ids of AppContexts. */
import type { Phase } from './context-state.ts';

export function contextWorkflowId(context: string): string {
  return `appcontext/${context}`;
}

/** Id of the work of one phase on one cluster, which is written `<provider>+<cluster>`. */
export function clusterWorkflowId(context: string, phase: Phase, cluster: string): string {
  return `${contextWorkflowId(context)}/${phase}/${cluster}`;
}
