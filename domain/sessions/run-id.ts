/** Name of a session layer's run: `<session id>-<attempt>-<layer index>`. One attempt of one layer has one run, ever. */
export function runIdOf(sessionId: string, attempt: number, layer: number): string {
  return `${sessionId}-${attempt}-${layer}`;
}

/** The session of a run that was named so; of another run, text that is no session's id. */
export function sessionOfRun(runId: string): string {
  return runId.replace(/-[0-9]+-[0-9]+$/, '');
}
