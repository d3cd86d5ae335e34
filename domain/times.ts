/** The time of components, configurations and sources on the wire: UTC, whole seconds, `2026-11-21T10:00:00Z`. */
export function wireTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
