/** CFS's session time: UTC, whole seconds, no zone (`2026-11-21T10:00:00`; cfs-api 8). */
export function toSessionTime(time: Date | null): string | null {
  return time === null ? null : time.toISOString().slice(0, 19);
}

const FORM = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})?$/;
/** Ages reach back to 1970, and a later year has no four digits. */
const [EARLIEST, LATEST] = [Date.UTC(1970), Date.UTC(10_000)];

/** Reads a session time, without zone as UTC; null when it is none, or none of the years 1970 to 9999. */
export function parseSessionTime(text: string): Date | null {
  const match = FORM.exec(text);
  if (match === null || !isDay(text.slice(0, 10))) return null;
  const time = new Date(match[2] === undefined ? `${text}Z` : text);
  return time.getTime() >= EARLIEST && time.getTime() < LATEST ? time : null;
}

/** Whether the calendar has this day: of 30 February, Date makes 2 March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
