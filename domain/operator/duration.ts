/** Durations as Go writes them: `1h30m`, `1.5h`, `-5s`, `0`; there is no day. */

/** A duration (s), or why the text is none. */
export type Duration = { seconds: number } | { mistake: string };

/** Nanoseconds of each unit. */
const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
/** A duration has 63 bits of nanoseconds; the most negative one has one more. */
const LARGEST = 2n ** 63n;
const LONGEST_WHOLE = 19;
/** Further digits are below a nanosecond in every unit. */
const FRACTION_DIGITS = 18;
/** Whoever edits a resource writes its annotations: the text of a mistake must not fill its status. */
const SHOWN = 100;

/** Returns the duration that a text says, in the grammar and with the mistakes of Go's `time.ParseDuration`. */
export function durationOf(text: string): Duration {
  const shown = JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text);
  const invalid = { mistake: `time: invalid duration ${shown}` };
  const negative = text.startsWith('-');
  const rest = negative || text.startsWith('+') ? text.slice(1) : text;
  if (rest === '0') return { seconds: 0 };
  if (rest === '') return invalid;
  let total = 0n;
  const part = /(\d*)(?:\.(\d*))?([^\d.]*)/y;
  while (part.lastIndex < rest.length) {
    const [, whole = '', fraction = '', unit = ''] = part.exec(rest) ?? [];
    if (whole === '' && fraction === '') return invalid;
    const digits = whole.replace(/^0+/, '');
    if (digits.length > LONGEST_WHOLE) return invalid;
    if (unit === '') return { mistake: `time: missing unit in duration ${shown}` };
    const nanoseconds = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
    if (nanoseconds === undefined) {
      return { mistake: `time: unknown unit ${JSON.stringify(unit.slice(0, SHOWN))} in duration ${shown}` };
    }
    const kept = fraction.slice(0, FRACTION_DIGITS);
    total += BigInt(digits || '0') * nanoseconds;
    total += (BigInt(kept || '0') * nanoseconds) / 10n ** BigInt(kept.length);
    if (total > LARGEST) return invalid;
  }
  if (total === LARGEST && !negative) return invalid;
  const seconds = Number(total) / 1e9;
  return { seconds: negative && seconds !== 0 ? -seconds : seconds };
}

/** Returns the duration (s) of a text that was checked before. Throws for any other text. */
export function secondsOf(text: string): number {
  const duration = durationOf(text);
  if ('mistake' in duration) throw new Error(duration.mistake);
  return duration.seconds;
}
