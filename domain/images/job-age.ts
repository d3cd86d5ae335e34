const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** Milliseconds of an age such as `30m` or `2w`. */
export function ageInMs(age: string): number {
  return Number.parseInt(age, 10) * (UNITS[age.slice(-1)] ?? 0);
}
