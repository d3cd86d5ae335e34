/** Queue of workflows and of work that any runner machine may take. */
export const MAIN_QUEUE = 'muster';

/** Queue of the work on groups of AppContexts, which lasts as long as clusters take: it holds no place of the main queue. */
export const DEPLOYMENTS_QUEUE = 'muster-deployments';

/** Queue of the machine (data directory) with this id; a new disk has a new id, so work never waits for a lost one. */
export function hostQueueOf(hostId: string): string {
  return `muster-host-${hostId}`;
}

/** Stands for the cluster where a machine's id is asked for: its Jobs need no disk of ours, so any worker that reaches it will do. */
export const CLUSTER_HOST = 'kubernetes';

/** Queue of the workflows of an operator, and of its work that any of its processes may take. */
export function operatorQueueOf(operator: string): string {
  return `muster-operator-${operator}`;
}

/** Queue of the process of an operator with this machine id (that of its data directory). */
export function operatorMachineQueueOf(machine: string): string {
  return `muster-operator-host-${machine}`;
}
