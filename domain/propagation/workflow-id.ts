/** Workflow id of a plan. */
export function planWorkflowId(plan: string): string {
  return `plan/${plan}`;
}
