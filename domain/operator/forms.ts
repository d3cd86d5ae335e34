/** Forms of the values of a `watches.yaml`. Key names match in any case; a null is a key that is not there. */
import { closestWord } from '../closest-word.ts';
import { durationOf } from './duration.ts';
import type { Say } from './watch-errors.ts';

/** Reads a value at a path; says what is wrong and returns undefined when it has another form. */
export type Form<T> = (value: unknown, field: string, say: Say) => T | undefined;
type Forms = Readonly<Record<string, Form<unknown>>>;
type Members<F extends Forms> = { [K in keyof F]?: Exclude<ReturnType<F[K]>, undefined> };

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a value is, without the value: it may be a secret of the environment. */
function kindOf(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'a boolean';
  return Number.isInteger(value) ? 'an integer' : 'a number';
}

/** A form of one JSON type; `fix` says how such a value is written. */
function typed<T>(wanted: string, fix: string, is: (value: unknown) => value is T): Form<T> {
  return (value, field, say) => {
    if (is(value)) return value;
    say({ code: 'W2', field, message: `${field}: must be ${wanted}, is ${kindOf(value)}`, fix });
    return undefined;
  };
}

export const text = typed('text', 'write it as text, in quotes', (value) => typeof value === 'string');
export const flag = typed('a boolean', 'write true or false, without quotes', (value) => typeof value === 'boolean');
export const whole = typed('an integer', 'write an integer, without quotes', (value): value is number =>
  Number.isSafeInteger(value),
);
export const decimal = typed('a number', 'write a number, without quotes', (value): value is number =>
  Number.isFinite(value),
);
const map = typed('a map', 'write names with values', isMap);

/** Names with values of any form that JSON has. */
export const variables: Form<Record<string, unknown>> = (value, field, say) => {
  if (!holdsInfinity(value)) return map(value, field, say);
  const message = `${field}: holds .inf or .nan, which no file of variables can hold`;
  say({ code: 'W2', field, message, fix: 'write a finite number, or text in quotes' });
  return undefined;
};

const holdsInfinity = (value: unknown): boolean =>
  typeof value === 'number'
    ? !Number.isFinite(value)
    : typeof value === 'object' && value !== null && Object.values(value).some(holdsInfinity);

/** Values of labels. As in the reference, numbers and booleans count as their text. */
export const labelText: Form<string> = (value, field, say) =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : text(value, field, say);

/** The text of a duration. */
export const durationText: Form<string> = (value, field, say) => {
  if (typeof value !== 'string') {
    const message = `${field}: must be a duration as text, is ${kindOf(value)}`;
    say({ code: 'W2', field, message, fix: 'write a duration such as "30s" or "10m", in quotes' });
    return undefined;
  }
  const duration = durationOf(value);
  if (!('mistake' in duration)) return value;
  say({
    code: 'W2',
    field,
    message: `${field}: ${duration.mistake}`,
    fix: 'write numbers with the units ns, us, ms, s, m or h, such as 1h30m; there is no day',
  });
  return undefined;
};

/** A list, of which the items with a mistake are left out. */
export function listOf<T>(item: Form<T>): Form<T[]> {
  const list = typed<unknown[]>('a list', 'write it as a list', Array.isArray);
  return (value, field, say) =>
    list(value, field, say)?.flatMap((element, index) => item(element, `${field}.${index}`, say) ?? []);
}

/** A map whose keys are free. */
export function mapOf<T>(item: Form<T>): Form<Record<string, T>> {
  return (value, field, say) => {
    const read = map(value, field, say);
    const pairs = Object.entries(read ?? {}).flatMap(([key, element]) => {
      const good = item(element, `${field}.${key}`, say);
      return good === undefined ? [] : [[key, good] as const];
    });
    return read && Object.fromEntries(pairs);
  };
}

/** A map whose keys are known. `prefix` stands before the messages of a map in which an unknown key is a mistake. */
export function members<F extends Forms>(forms: F, strict?: { prefix: string }): Form<Members<F>> {
  const names = Object.keys(forms);
  return (value, field, say) => {
    const given = map(value, field, say);
    if (given === undefined) return undefined;
    const read: Record<string, unknown> = {};
    const spelt = new Set<string>();
    for (const [key, member] of Object.entries(given)) {
      const name = names.find((known) => known.toLowerCase() === key.toLowerCase());
      const path = (last: string): string => (field === '' ? last : `${field}.${last}`);
      if (name === undefined) {
        sayUnknown(key, path(key), names, strict, say);
        continue;
      }
      if (spelt.has(name)) {
        const message = `${path(name)}: stands there more than once; the last one counts`;
        say({ code: 'repeated_key', field: path(name), message, fix: 'write the key once' });
      }
      spelt.add(name);
      delete read[name];
      const good = member === null ? undefined : forms[name]?.(member, path(name), say);
      if (good !== undefined) read[name] = good;
    }
    return read as Members<F>;
  };
}

function sayUnknown(key: string, field: string, names: string[], strict: { prefix: string } | undefined, say: Say) {
  const meant = closestWord(key, names);
  const fix = meant === undefined ? 'remove the key' : `write ${meant}, or remove the key`;
  if (strict === undefined) say({ code: 'unknown_key', field, message: `${field}: there is no such key`, fix });
  else {
    const allowed = `there is no such key; the keys are ${names.join(' ')}`;
    say({ code: 'W13', field, message: `muster: ${strict.prefix}${key}: ${allowed}`, fix });
  }
}
