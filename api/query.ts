/** Query strings: the last of a repeated parameter wins, unless the schema takes all of them; texts become what the schema declares (cfs-api 1). */
import { z } from 'zod';
import { closestWord } from '../domain/closest-word.ts';
import { musterError } from '../domain/errors.ts';

/** All values of parsed query strings, for parameters that may be repeated. */
const repeated = new WeakMap<object, URLSearchParams>();

/** The parameters of a query string as texts, each with its last value. */
export function parseQuery(text: string): Record<string, string> {
  const all = new URLSearchParams(text);
  const parsed: Record<string, string> = Object.fromEntries(all);
  repeated.set(parsed, all);
  return parsed;
}

/** `texts`: the schema is an array of texts, which gets every value of a repeated parameter, in their order. */
type Kind = 'boolean' | 'integer' | 'text' | 'texts';
const kinds = new WeakMap<z.ZodObject, Map<string, Kind>>();

/** Longest part of a name that an answer repeats. */
const SHOWN_NAME = 100;

/** Methods that may write many records by a filter. */
const BULK = new Set(['DELETE', 'PATCH']);

/**
 * Whether a route refuses query parameters that it does not know: all of Muster's own do, and of the other ones those that may
 * change or delete many records. A mistyped filter there would widen what is done.
 */
export function refusesUnknown(method: string, url: string): boolean {
  const isOneRecord = url.includes(':') || url.endsWith('/options');
  return url.startsWith('/api/v1/') || (BULK.has(method) && !isOneRecord);
}

/** No parameter: the schema of a route that declares none. */
export const NO_PARAMETERS = z.strictObject({});

/**
 * The parameters that the schema knows, with booleans (any letter case) and decimal integers converted. Others are dropped, as
 * CFS does (cfs-api 1), unless the schema or the caller is `strict`. A text of the wrong type is a `bad_request` in CFS's words.
 */
export function convertQuery(
  schema: z.ZodObject,
  query: Record<string, string>,
  strict = false,
): Record<string, unknown> {
  if (strict || schema.def.catchall instanceof z.ZodNever) refuseOthers(schema, query);
  const converted: Record<string, unknown> = {};
  for (const [name, kind] of kindsOf(schema)) {
    const text = Object.hasOwn(query, name) ? query[name] : undefined;
    if (text === undefined) continue;
    converted[name] = kind === 'texts' ? (repeated.get(query)?.getAll(name) ?? [text]) : convert(name, text, kind);
  }
  return converted;
}

/** Where a parameter that was left out widens what is done, as of a delete, a mistyped one must not count as left out. */
function refuseOthers(schema: z.ZodObject, query: Record<string, string>): void {
  for (const name of Object.keys(query)) {
    if (Object.hasOwn(schema.shape, name)) continue;
    const names = Object.keys(schema.shape);
    const meant = closestWord(name, names);
    const shown = `'${name.slice(0, SHOWN_NAME)}'${meant === undefined ? '' : ` (${meant}?)`}`;
    throw musterError('bad_request', `There is no query parameter ${shown}: known are ${names.join(', ') || 'none'}`);
  }
}

function convert(name: string, text: string, kind: Exclude<Kind, 'texts'>): unknown {
  if (kind === 'boolean') {
    const value = text.toLowerCase();
    if (value !== 'true' && value !== 'false') throw wrongType(name, kind);
    return value === 'true';
  }
  if (kind === 'integer') {
    if (!/^-?[0-9]+$/.test(text)) throw wrongType(name, kind);
    // Beyond what counts exactly there is no difference: no table has so many rows.
    return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(text)));
  }
  return text;
}

function wrongType(name: string, kind: Kind) {
  return musterError('bad_request', `Wrong type, expected '${kind}' for query parameter '${name}'`);
}

function kindsOf(schema: z.ZodObject): Map<string, Kind> {
  const known = kinds.get(schema);
  if (known) return known;
  const found = new Map(Object.entries(schema.shape).map(([name, member]) => [name, kindOf(member)]));
  kinds.set(schema, found);
  return found;
}

function kindOf(schema: z.core.$ZodType): Kind {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return kindOf(schema.def.innerType);
  }
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodArray) return 'texts';
  return schema instanceof z.ZodNumber ? 'integer' : 'text';
}
