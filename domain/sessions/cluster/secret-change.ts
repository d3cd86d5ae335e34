/** How the Secret of a Job that goes on comes to hold what it should now, so that its pod can tell when it has that. */

type Values = Readonly<Record<string, string>>;

const MASKS = 'masks.json';
/** Grows with each change. Pods know it as the end of the certificate in seconds since 1970, which it is while nothing else changes. */
const NUMBER = 'certificate_until';

/** The number of a Secret, for which a pod can wait; 0: it has none. */
export function secretNumber(values: Values): number {
  const text = values[NUMBER]?.trim() ?? '';
  return /^\d+$/.test(text) ? Number(text) : 0;
}

/**
 * What has to be written into a Secret for it to have `wanted`, and `secrets` among its masks; nothing where it is so already. What was
 * masked stays so. The number becomes that of `wanted`, or at least one more than it was: whoever sees it has the other keys too.
 */
export function secretChange(now: Values, wanted: Values, secrets: readonly string[]): Record<string, string> {
  const masks: string[] = JSON.parse(now[MASKS] ?? '[]');
  const unmasked = secrets.filter((secret) => !masks.includes(secret));
  const values = {
    ...wanted,
    ...(unmasked.length === 0 ? {} : { [MASKS]: JSON.stringify([...masks, ...unmasked]) }),
  };
  const changes = Object.entries(values).filter(([key, value]) => key !== NUMBER && now[key] !== value);
  const number = secretNumber(wanted);
  if (changes.length === 0 && number <= secretNumber(now)) return {};
  return { ...Object.fromEntries(changes), [NUMBER]: `${Math.max(number, secretNumber(now) + 1)}\n` };
}
