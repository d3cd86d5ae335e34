import { InvalidArgumentError } from 'commander';

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** A point in time, ISO in UTC, of one as `2026-11-21T10:00:00Z` or of how long ago it was, such as `2h`. */
export function moment(text: string, _before?: string, now: number = Date.now()): string {
  const [, count, unit = ''] = /^([0-9]{1,9})([smhdw])$/.exec(text) ?? [];
  const written = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  const time = count === undefined ? written : now - Number(count) * (UNITS[unit] ?? 0) * 1_000;
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError('write a time such as 2026-11-21T10:00:00Z, or how long ago, such as 2h.');
  }
  return new Date(time).toISOString();
}
