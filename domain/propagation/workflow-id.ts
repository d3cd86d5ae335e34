/** Workflow id of a plan. */
export function planWorkflowId(plan: string): string {
  return `plan/${plan}`;
}

/** Workflow id of the sync of a repository, by the id of its record. */
export function syncWorkflowId(repository: string): string {
  return `sync-repository/${repository}`;
}
