const UNIT_SECONDS: Record<string, number> = { m: 60, h: 3_600, d: 86_400, w: 604_800 };

/**
 * The time `age` ago (`30m`, `7d`; units m, h, d, w in either case), or null for no age. An age that reaches before
 * 1970 gives 1970: nothing is that old (cfs-api 10). `age` has passed its schema.
 */
export function timeBefore(now: Date, age: string | null | undefined): Date | null {
  if (!age) return null;
  const unit = UNIT_SECONDS[age.slice(-1).toLowerCase()];
  const count = Number(age.slice(0, -1));
  if (unit === undefined || !Number.isFinite(count)) return null;
  return new Date(Math.max(0, now.getTime() - count * unit * 1000));
}
