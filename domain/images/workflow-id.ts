/** Workflow id of an image job. */
export function imageJobWorkflowId(jobId: string): string {
  return `image-job/${jobId}`;
}
