import { InvalidArgumentError } from 'commander';

/** Collects repeated `k=v` options into one object; the value may hold further `=`. */
export function pair(word: string, before: Record<string, string> = {}): Record<string, string> {
  const at = word.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write it as name=value.');
  return { ...before, [word.slice(0, at)]: word.slice(at + 1) };
}

export interface Group {
  name: string;
  members: string[];
}

/** Collects repeated `name=host,host` options into groups of a target. */
export function group(word: string, before: Group[] = []): Group[] {
  const at = word.indexOf('=');
  const members = word
    .slice(at + 1)
    .split(',')
    .filter((member) => member !== '');
  if (at < 1 || members.length === 0) throw new InvalidArgumentError('write it as name=host,host.');
  return [...before, { name: word.slice(0, at), members }];
}

/** Counts how often a flag is given. */
export const count = (_word: string, before: number): number => before + 1;

/** A whole number of at least `minimum`. */
export const integer =
  (minimum: number) =>
  (word: string): number => {
    const value = /^[0-9]+$/.test(word) ? Number.parseInt(word, 10) : Number.NaN;
    if (!(value >= minimum)) throw new InvalidArgumentError(`must be a whole number of at least ${minimum}.`);
    return value;
  };

/** A number of seconds greater than 0. */
export function seconds(word: string): number {
  const value = /^[0-9]+(\.[0-9]+)?$/.test(word) ? Number.parseFloat(word) : Number.NaN;
  if (!(value > 0)) throw new InvalidArgumentError('must be a number of seconds above 0.');
  return value;
}

/** Tags as the API's filters take them: `k=v,k=v`; undefined for none. */
export const tagFilter = (tags: Record<string, string> | undefined): string | undefined =>
  tags &&
  Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
