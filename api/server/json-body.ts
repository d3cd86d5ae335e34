/** From the bytes of a body to data, with the refusals that cfs-api 1, 2 name. */
import type { FastifyRequest } from 'fastify';
import { musterError } from '../../domain/errors.ts';

/** Cheap signs in the text that a slower look is needed: escaped NUL, surrogate or underscore, the special key itself. */
const ODD_TEXT = /\\u(?:0000|[dD][89a-fA-F]|005[fF])|__proto__/;
/** A number with fraction or exponent, or text that looks like one. */
const ODD_NUMBER = /(?:^|[:,[\s])-?[0-9]+[.eE]/;
const FRACTION = /[.eE]/;
/** Of the path of a member so much is told, characters. */
const PATH_MAX = 500;
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * The JSON of a request whose route declares no body; undefined when it came without any byte. Throws `body_not_json`,
 * and `bad_request` for characters that cannot be stored.
 */
export function readJsonBody(request: FastifyRequest): unknown {
  return Buffer.isBuffer(request.body) && request.body.length > 0 ? parseJson(request.body) : undefined;
}

/**
 * Parses JSON. Text that Postgres cannot keep (NUL, half a surrogate pair) and the key `__proto__` are refused with the
 * path of the member. A number written with fraction or exponent is no integer even when its value is one (`10.0`; cfs-api
 * 5): it becomes a Number object, which no schema takes for an integer and which is written like the number.
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decoded(bytes);
  const data = parsed(text, ODD_NUMBER.test(text) ? keepFractions : undefined);
  const mistake = ODD_TEXT.test(text) ? storageMistake(data) : null;
  if (mistake) throw mistake;
  return data;
}

function keepFractions(this: unknown, _key: string, value: unknown, context: { source?: string }): unknown {
  const isDisguised = typeof value === 'number' && Number.isInteger(value) && FRACTION.test(context.source ?? '');
  return isDisguised ? Object(value) : value;
}

/** Whether text can be stored: Postgres takes neither NUL nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !LONE_SURROGATE.test(text);
}

type Reviver = typeof keepFractions;

/**
 * Returns the text of a body.
 * Throws `bad_request` for bytes that are no UTF-8, and for characters that cannot be stored.
 */
export function readTextBody(bytes: Uint8Array): string {
  const text = decoded(bytes, () => musterError('bad_request', 'The text of the body is not in UTF-8'));
  if (isStorable(text)) return text;
  throw musterError('bad_request', 'The text of the body has a character that cannot be stored');
}

function decoded(bytes: Uint8Array, mistake = notJson): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw mistake();
  }
}

function parsed(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]);
  } catch (error) {
    // With a reviver the parser goes as deep as its stack; without, as deep as the text.
    if (error instanceof RangeError)
      throw musterError('body_not_json', 'The JSON of the request body has too many levels');
    throw notJson();
  }
}

function notJson() {
  return musterError('body_not_json', 'Request body is not valid JSON');
}

/** Walks with a list of its own instead of the stack: nesting is the sender's choice. */
function storageMistake(data: unknown) {
  const open: { value: unknown; path: string }[] = [{ value: data, path: '' }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && !isStorable(value)) return unstorable('a value', path);
    if (typeof value !== 'object' || value === null) continue;
    const members = Object.entries(value);
    for (const [key] of members) {
      if (!isStorable(key)) return unstorable('a name', path);
      if (key === '__proto__')
        return musterError('bad_request', "A property must not be named '__proto__'", shown(path));
    }
    // The first is looked at next, so that of several mistakes the first is told.
    for (const [key, member] of members.reverse()) {
      open.push({ value: member, path: path === '' ? key : `${path}.${key}` });
    }
  }
  return null;
}

function unstorable(what: string, path: string) {
  return musterError('bad_request', `There is ${what} with a character that cannot be stored`, shown(path));
}

/** The path as it is told: that of a member below very many levels is as long as the body. */
function shown(path: string): string | undefined {
  if (path === '') return undefined;
  return path.length <= PATH_MAX ? path : `${path.slice(0, PATH_MAX)}...`;
}
