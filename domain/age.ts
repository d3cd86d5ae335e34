const UNIT_SECONDS: Record<string, number> = { m: 60, h: 3_600, d: 86_400, w: 604_800 };

/**
 * The time `age` ago (`30m`, `7d`; units m, h, d, w in either case), or null for no age. An age that reaches before
 * 1970 gives 1970: nothing is that old (cfs-api 10). `age` has passed its schema.
 */
export function timeBefore(now: Date, age: string | null | undefined): Date | null {
  const seconds = ageSeconds(age);
  return seconds === null ? null : new Date(Math.max(0, now.getTime() - seconds * 1000));
}

/** An age in seconds, or null for none. */
export function ageSeconds(age: string | null | undefined): number | null {
  if (!age) return null;
  const unit = UNIT_SECONDS[age.slice(-1).toLowerCase()];
  const count = Number(age.slice(0, -1));
  return unit === undefined || !Number.isFinite(count) ? null : count * unit;
}
