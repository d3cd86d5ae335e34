/** Workflow id of a session: the name for people, the id so that a name made again meets nothing of its predecessor. */
export function sessionWorkflowId(session: { id: string; name: string }): string {
  return `session/${session.name}/${session.id}`;
}

/** Session's name in a workflow id made by `sessionWorkflowId`; undefined for another workflow. */
export function sessionNameOfWorkflow(workflowId: string): string | undefined {
  return sessionIdOfWorkflow(workflowId) === null ? undefined : workflowId.split('/')[1];
}

/** Session id in a workflow id made by `sessionWorkflowId`, or null for another workflow. */
export function sessionIdOfWorkflow(workflowId: string): string | null {
  const parts = workflowId.split('/');
  return parts.length === 3 && parts[0] === 'session' ? (parts[2] ?? null) : null;
}
