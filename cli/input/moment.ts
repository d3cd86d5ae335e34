import { InvalidArgumentError } from 'commander';

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** A date, or a date with a time of day, which may say its zone. */
const WRITTEN = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?)?$/i;

/**
 * A point in time, ISO in UTC, of one as `2026-11-21T10:00:00Z` or of how long ago it was, such as `2h`. Without a zone it is in UTC, as
 * are all times that are shown. Throws commander's refusal of an argument.
 */
export function moment(text: string, _before?: string, now: number = Date.now()): string {
  const [, count, unit = ''] = /^([0-9]{1,9})([smhdw])$/.exec(text) ?? [];
  const [whole, timeOfDay, , , zone] = WRITTEN.exec(text) ?? [];
  const written = whole === undefined ? Number.NaN : Date.parse(timeOfDay && !zone ? `${whole.trim()}Z` : whole);
  const time = count === undefined ? written : now - Number(count) * (UNITS[unit] ?? 0) * 1_000;
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError('write a time such as 2026-11-21T10:00:00Z, or how long ago, such as 2h.');
  }
  return new Date(time).toISOString();
}

/** As `moment`, but a time such as `2h` lies ahead. Throws commander's refusal of an argument. */
export function laterMoment(text: string, _before?: string, now: number = Date.now()): string {
  const [, count, unit = ''] = /^([0-9]{1,9})([smhdw])$/.exec(text) ?? [];
  if (count === undefined) return moment(text, undefined, now);
  const time = new Date(now + Number(count) * (UNITS[unit] ?? 0) * 1_000);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError('write a time such as 2026-11-21T10:00:00Z, or how long, such as 2h.');
}
