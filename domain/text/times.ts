/** The time of components, configurations and sources on the wire: UTC, whole seconds, `2026-11-21T10:00:00Z`. */
export function wireTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** A hundred years: options count seconds without an upper bound (cfs-api 5), and an instant after them must stay one. */
const LONGEST_SECONDS = 100 * 365 * 24 * 3_600;

/** So many seconds, at most a hundred years: what may be added to an instant. */
export function boundedSeconds(seconds: number): number {
  return Math.min(seconds, LONGEST_SECONDS);
}

/** `24 h`, `30 min`, or `90 s` where minutes are not even. */
export function lasting(seconds: number): string {
  if (seconds % 60 !== 0) return `${seconds} s`;
  return seconds % 3_600 === 0 ? `${seconds / 3_600} h` : `${seconds / 60} min`;
}
