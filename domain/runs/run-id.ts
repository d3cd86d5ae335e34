/** Name of a session layer's run: `<session id>-<attempt>-<layer index>`. One attempt of one layer has one run, ever. */
export function runIdOf(sessionId: string, attempt: number, layer: number): string {
  return `${sessionId}-${attempt}-${layer}`;
}
