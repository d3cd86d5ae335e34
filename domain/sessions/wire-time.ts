/** CFS's session time: UTC, whole seconds, no zone (`2026-11-21T10:00:00`; cfs-api 8). */
export function toSessionTime(time: Date | null): string | null {
  return time === null ? null : time.toISOString().slice(0, 19);
}

const FORM = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})?$/;

/** Reads a session time, without zone as UTC; null when it is none. */
export function parseSessionTime(text: string): Date | null {
  const match = FORM.exec(text);
  if (match === null) return null;
  const time = new Date(match[2] === undefined ? `${text}Z` : text);
  return Number.isNaN(time.getTime()) ? null : time;
}
