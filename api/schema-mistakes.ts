/** From a schema's refusal to the words of a problem document (cfs-api 2). */

import type { z } from 'zod';
import { type MusterError, musterError } from '../domain/errors.ts';
import { READ_ONLY_MESSAGE } from '../domain/schema.ts';
import { someOf } from '../domain/some-of.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** The first mistake of a body, with its path: ` - 'layers.0.commit'`. */
export function bodyMistake(error: z.core.$ZodError, body: unknown): MusterError {
  const issue = innermost(error.issues[0]);
  if (issue === undefined) return musterError('bad_request', 'The body does not match its schema');
  if (issue.message === READ_ONLY_MESSAGE) return musterError('read_only', READ_ONLY_MESSAGE, fieldOf(issue.path));
  if (issue.code === 'unrecognized_keys' && !issue.message.startsWith('Unrecognized key')) {
    return musterError('bad_request', issue.message, fieldOf(issue.path));
  }
  if (issue.code === 'unrecognized_keys') {
    const keys = someOf(issue.keys.map((key) => `'${key}'`));
    const were = issue.keys.length === 1 ? 'was' : 'were';
    const detail = `Additional properties are not allowed (${keys} ${were} unexpected)`;
    return musterError('bad_request', detail, fieldOf(issue.path));
  }
  const value = valueAt(body, issue.path);
  const name = issue.path.at(-1);
  if (value === undefined && typeof name === 'string') {
    return musterError('bad_request', `'${name}' is a required property`, fieldOf(issue.path.slice(0, -1)));
  }
  return musterError('bad_request', `${shownAt(value, issue.path)}: ${wording(issue)}`, fieldOf(issue.path));
}

/** The first mistake of path, query or header parameters; their values have the right type already. */
export function parameterMistake(
  error: z.core.$ZodError,
  values: unknown,
  kind: 'path' | 'query' | 'header',
): MusterError {
  const issue = error.issues[0];
  const path = issue?.path ?? [];
  const value = valueAt(values, path);
  const said = value === undefined ? 'is required' : `${shown(value)} is wrong: ${issue ? wording(issue) : ''}`;
  return musterError('bad_request', `The ${kind} parameter '${String(path[0])}' ${said}`);
}

/** Of the alternatives of a union, what the one whose outer shape fits says. */
function innermost(issue: Issue | undefined): Issue | undefined {
  if (issue?.code !== 'invalid_union') return issue;
  const alternative = issue.errors.find((issues) => issues[0] && issues[0].path.length > 0) ?? issue.errors.at(-1);
  const inner = innermost(alternative?.[0]);
  return inner ? { ...inner, path: [...issue.path, ...inner.path] } : issue;
}

/** Types in the words of JSON; all numbers of the API are integers. */
const TYPES: Record<string, string> = { record: 'object', number: 'integer', int: 'integer' };

function wording(issue: Issue): string {
  if (issue.code === 'invalid_value')
    return `is not one of ${issue.values.map((value) => `'${String(value)}'`).join(', ')}`;
  if (issue.code === 'invalid_type') return `is not of type '${TYPES[issue.expected] ?? issue.expected}'`;
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}${unit(issue)}`;
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}${unit(issue)}`;
  return issue.message;
}

function unit(issue: { origin: string }): string {
  return issue.origin === 'string' ? ' characters long' : '';
}

function fieldOf(path: Path): string | undefined {
  return path.length === 0 ? undefined : path.map(String).join('.');
}

function valueAt(data: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    const isContainer = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
    return isContainer ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  }, data);
}

/** Members that hold credentials, or stand where they belong. */
const SECRET_MEMBERS: ReadonlySet<PropertyKey> = new Set(['credentials', 'username', 'password', 'value']);

/** The value for a sentence, unless it may be a secret: then only that there is one. */
function shownAt(value: unknown, path: Path): string {
  const isHidden = path.length === 0 || path.some((key) => SECRET_MEMBERS.has(key));
  const isText = ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Number;
  return isHidden && isText ? 'The value' : shown(value);
}

/** The value for a sentence: short, and without looking into objects, whose depth is the sender's choice. */
function shown(value: unknown): string {
  if (value === undefined) return 'An absent body';
  if (Array.isArray(value)) return 'An array';
  if (value instanceof Number) return `${value} with a fraction or exponent`;
  if (typeof value === 'object' && value !== null) return 'An object';
  const text = typeof value === 'string' ? `'${value}'` : String(value);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
