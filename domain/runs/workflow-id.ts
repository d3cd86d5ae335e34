/** Workflow id of the end of a run. */
export function endRunWorkflowId(runId: string): string {
  return `end-run/${runId}`;
}
