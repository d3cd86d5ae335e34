/** From a schema's refusal to the words of a problem document (cfs-api 2). */

import type { z } from 'zod';
import { closestWord } from '../../domain/closest-word.ts';
import { maskAddress } from '../../domain/configurations/address-secrets.ts';
import { type MusterError, musterError } from '../../domain/errors.ts';
import { READ_ONLY_MESSAGE } from '../../domain/schema.ts';
import { someOf } from '../../domain/some-of.ts';
import { membersAt } from './schema-members.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** How many mistakes of a body are told. */
const TOLD = 10;
/** Longest name of a member that is shown whole. */
const NAME_MAX = 100;

/** A mistake as it is told. */
interface Mistake {
  /** Where the object is that has an unknown member or lacks one; of a wrong value, where that is. */
  place: Path;
  kind: 'unknown' | 'missing' | 'value';
  /** Names of members, or what is said of the value. */
  words: string[];
}

/**
 * All mistakes of a body in one sentence, with the path of the first: `unknown member 'playbok' (playbook?) - 'layers.0'`; several by their places:
 * `layers[0]: unknown member 'playbok' (playbook?), and 'playbook' is missing`. The first decides on the code. `start` is the place of the first
 * record where `body` is a part of a list.
 */
export function bodyMistake(error: z.core.$ZodError, body: unknown, schema?: z.core.$ZodType, start = 0): MusterError {
  const issues = error.issues.flatMap(innermost);
  const [first] = issues;
  if (first === undefined) return musterError('bad_request', 'The body does not match its schema');
  const mistakes = issues.slice(0, TOLD).map((issue) => mistakeOf(issue, body, schema));
  const more = issues.length - mistakes.length;
  const code = first.message === READ_ONLY_MESSAGE ? 'read_only' : 'bad_request';
  const at = (path: Path) => shiftedPath(path, body, start);
  const places = byPlace(mistakes);
  const [place] = places;
  if (place !== undefined && mistakes.length === 1 && more === 0) {
    const [{ kind, words }] = place;
    // Alone it is told as CFS does.
    const detail = kind === 'missing' ? `${words[0]} is a required property` : sentenceOf(place);
    return musterError(code, detail, fieldOf(at(place[0].place)));
  }
  const sentences = places.map((group) => sentenceAt(at(group[0].place), group));
  const detail = `${sentences.join('; ')}${more > 0 ? `; and ${more} more mistakes` : ''}`;
  return musterError(code, detail, fieldOf(at(mistakes[0]?.place ?? [])));
}

function mistakeOf(issue: Issue, body: unknown, schema: z.core.$ZodType | undefined): Mistake {
  const { path } = issue;
  if (issue.message === READ_ONLY_MESSAGE) return { place: path, kind: 'value', words: [READ_ONLY_MESSAGE] };
  if (issue.code === 'unrecognized_keys') {
    if (!issue.message.startsWith('Unrecognized key')) return { place: path, kind: 'value', words: [issue.message] };
    return { place: path, kind: 'unknown', words: unknownMembers(issue.keys, schema ? membersAt(schema, path) : []) };
  }
  const value = valueAt(body, path);
  const name = path.at(-1);
  if (value === undefined && typeof name === 'string') {
    const owner = path.slice(0, -1);
    if (issue.code === 'custom') return { place: owner, kind: 'value', words: [`'${name}' ${issue.message}`] };
    return { place: owner, kind: 'missing', words: [`'${name}'`] };
  }
  return { place: path, kind: 'value', words: [`${shownAt(value, path)}: ${wording(issue)}`] };
}

/** Returns the unknown members by name, each with the known member that was most likely meant. Where no member has a likely name, all known members follow. */
function unknownMembers(keys: readonly string[], known: readonly string[]): string[] {
  const named = keys.map((key) => (key.length > NAME_MAX ? `'${key.slice(0, NAME_MAX)}...'` : `'${key}'`));
  const meant = keys.slice(0, TOLD).map((key) => closestWord(key, known));
  if (known.length === 0 || meant.some((word) => word !== undefined)) {
    return named.map((name, index) => (meant[index] === undefined ? name : `${name} (${meant[index]}?)`));
  }
  return named.map((name, index) => (index === 0 ? `${name} (known: ${someOf(known)})` : name));
}

type Group = [Mistake, ...Mistake[]];

/** Mistakes of one place together, in the order of their first. */
function byPlace(mistakes: readonly Mistake[]): Group[] {
  const groups = new Map<string, Group>();
  for (const mistake of mistakes) {
    const key = JSON.stringify(mistake.place.map(String));
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [mistake]);
    else group.push(mistake);
  }
  return [...groups.values()];
}

/** What is wrong at one place: unknown members, then missing ones, then values. */
function sentenceOf(group: Group): string {
  const of = (kind: Mistake['kind']) => group.filter((mistake) => mistake.kind === kind).flatMap(({ words }) => words);
  const unknown = of('unknown');
  const missing = of('missing');
  const parts = [
    ...(unknown.length === 0 ? [] : [`unknown member${unknown.length === 1 ? '' : 's'} ${someOf(unknown)}`]),
    ...(missing.length === 0 ? [] : [`${someOf(missing)} ${missing.length === 1 ? 'is' : 'are'} missing`]),
    ...of('value'),
  ];
  return parts.join(', and ');
}

/** The same with the place in front: `layers[0]: ...`; nothing stands in front of what is said of the body itself. */
function sentenceAt(place: Path, group: Group): string {
  const name = place.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return name === '' ? sentenceOf(group) : `${name.replace(/^\./, '')}: ${sentenceOf(group)}`;
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
function innermost(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const alternative = issue.errors.find((issues) => issues[0] && issues[0].path.length > 0) ?? issue.errors.at(-1);
  const inner = (alternative ?? []).flatMap(innermost);
  return inner.length === 0 ? [issue] : inner.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
}

/** The path in the whole list, of a path in a part that begins at `start`. */
function shiftedPath(path: Path, body: unknown, start: number): Path {
  const [index, ...rest] = path;
  return Array.isArray(body) && typeof index === 'number' ? [index + start, ...rest] : path;
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

/** Members that hold credentials, or stand where they belong: also the address of a webhook, and arguments with extra variables. */
const SECRET_MEMBERS: ReadonlySet<PropertyKey> = new Set([
  ...['credentials', 'username', 'password', 'value', 'secret', 'url'],
  ...['ansible_passthrough', 'ansiblePassthrough'],
]);

/** The value for a sentence, unless it may be a secret: then only that there is one. */
function shownAt(value: unknown, path: Path): string {
  const isHidden = path.length === 0 || path.some((key) => SECRET_MEMBERS.has(key));
  const isText = ['string', 'number', 'bigint'].includes(typeof value) || value instanceof Number;
  return isHidden && isText ? 'The value' : shown(value);
}

/** The value for a sentence: short, without the password of an address, and without looking into objects, whose depth is the sender's choice. */
function shown(value: unknown): string {
  if (value === undefined) return 'An absent body';
  if (Array.isArray(value)) return 'An array';
  if (value instanceof Number) return `${value} with a fraction or exponent`;
  if (typeof value === 'object' && value !== null) return 'An object';
  const text = typeof value === 'string' ? `'${maskAddress(value)}'` : String(value);
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
