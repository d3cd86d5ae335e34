/** The compact form of a schema (`str!`, `[int]`, `{host: str!}`), and what a value has wrong by it. */
import { musterError } from '../errors.ts';

export type CompactSchema = string | readonly CompactSchema[] | { readonly [key: string]: CompactSchema };

const SCALARS = { str: 'string', int: 'number', bool: 'boolean' } as const;

/** Schemas are foreign text: bytes at most, lists and objects inside one another at most. */
const LARGEST_SCHEMA = 64 * 1_024;
const DEEPEST = 32;
/** Mistakes that one value lists at most. */
const MOST_MISTAKES = 20;

/**
 * Returns the schema of an input, as it was read from YAML.
 * Throws `validation_failed` where it has another form, is too large or too deep.
 */
export function compactSchema(read: unknown, field: string): CompactSchema {
  check(read, field, 0);
  if (JSON.stringify(read).length > LARGEST_SCHEMA) {
    throw musterError('validation_failed', `The schema is larger than ${LARGEST_SCHEMA} characters`, field);
  }
  return read as CompactSchema;
}

function check(read: unknown, field: string, depth: number): void {
  if (depth > DEEPEST) throw musterError('validation_failed', `The schema is deeper than ${DEEPEST} levels`, field);
  if (typeof read === 'string') {
    if (Object.hasOwn(SCALARS, read.replace(/!$/, ''))) return;
    throw musterError(
      'validation_failed',
      `The schema ${JSON.stringify(read.slice(0, 100))} is not known: use str, int or bool (with ! for a value that must be there), [...] or {...}`,
      field,
    );
  }
  if (Array.isArray(read)) {
    if (read.length > 1) throw musterError('validation_failed', 'The schema of a list has at most one element', field);
    for (const item of read) check(item, `${field}[]`, depth + 1);
    return;
  }
  if (read === null || typeof read !== 'object') {
    throw musterError('validation_failed', 'The schema must be a word, a list or an object', field);
  }
  for (const [key, member] of Object.entries(read)) check(member, `${field}.${key}`, depth + 1);
}

/** Whether the schema is a single value, and no list and no object. */
export function isScalar(schema: CompactSchema): boolean {
  return typeof schema === 'string';
}

/** Returns what a value has wrong by its schema, at most 20 sentences; none where it fits. */
export function mistakesOf(schema: CompactSchema, value: unknown): string[] {
  const found: string[] = [];
  collect(schema, value, '', found);
  return found.slice(0, MOST_MISTAKES);
}

function collect(schema: CompactSchema, value: unknown, at: string, found: string[]): void {
  if (found.length >= MOST_MISTAKES) return;
  const say = (text: string) => found.push(at === '' ? text : `${at}: ${text}`);
  if (typeof schema === 'string') {
    const mistake = scalarMistake(schema, value);
    if (mistake !== null) say(mistake);
  } else if (Array.isArray(schema)) {
    if (!Array.isArray(value)) {
      say(`must be a list, is ${wordOf(value)}`);
      return;
    }
    const [item] = schema as readonly CompactSchema[];
    if (item === undefined) return;
    for (const [index, member] of value.entries()) collect(item, member, `${at}[${index}]`, found);
  } else if (wordOf(value) !== 'an object') {
    say(`must be an object, is ${wordOf(value)}`);
  } else {
    for (const [key, member] of Object.entries(schema as Record<string, CompactSchema>)) {
      const path = at === '' ? key : `${at}.${key}`;
      if (Object.hasOwn(value as object, key)) collect(member, (value as Record<string, unknown>)[key], path, found);
      else if (typeof member === 'string' && member.endsWith('!')) found.push(`${path}: is missing`);
    }
  }
}

function scalarMistake(schema: string, value: unknown): string | null {
  const word = schema.replace(/!$/, '') as keyof typeof SCALARS;
  const mustBe = schema.endsWith('!');
  if (value === null || value === undefined) return mustBe ? `must be a ${SCALARS[word]}, is null` : null;
  if (typeof value !== SCALARS[word]) return `must be a ${SCALARS[word]}, is ${wordOf(value)}`;
  return mustBe && value === '' ? 'must not be empty' : null;
}

function wordOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
