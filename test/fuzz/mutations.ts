/** From a request that the API would take to one that it may have to refuse. */
import fc from 'fast-check';
import { type BaseRequest, NAMES } from './base-requests.ts';
import { RAW_VALUES } from './raw-values.ts';

export interface BadRequest {
  operation: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Undefined: no body at all. */
  body: string | undefined;
}

const rawValue = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...RAW_VALUES) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }).map((text) => JSON.stringify(text)) },
);
const memberName = fc.oneof(
  fc.constantFrom(
    '',
    'id',
    'name',
    'status',
    'state',
    '__proto__',
    'constructor',
    'last_updated',
    'configuration_status',
  ),
  fc.string({ maxLength: 8 }),
);

type Path = (string | number)[];

/** Every place in a value, the whole of it first. */
function placesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value);
  return [path, ...inner.flatMap((key) => placesOf((value as Record<string | number, unknown>)[key], [...path, key]))];
}

/** Stands for text that is put in after the value is written. */
const MARK = '\u2047raw\u2047';

function withValueAt(value: unknown, path: Path, change: (old: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  const copy: unknown = structuredClone(value);
  const holder = copy as Record<string | number, unknown>;
  holder[key] = withValueAt(holder[key], rest, change);
  if (holder[key] === undefined) {
    if (Array.isArray(copy)) copy.splice(Number(key), 1);
    else delete holder[key];
  }
  return copy;
}

/** Texts of bodies that differ from `bodies` in one or a few places. */
function badBody(bodies: readonly unknown[]): fc.Arbitrary<string> {
  const base = fc.constantFrom(...bodies);
  const place = base.chain((body) => fc.tuple(fc.constant(body), fc.constantFrom(...placesOf(body))));
  const replaced = fc
    .tuple(place, rawValue)
    .map(([[body, path], raw]) => JSON.stringify(withValueAt(body, path, () => MARK)).replace(`"${MARK}"`, () => raw));
  const removed = place.map(([body, path]) => JSON.stringify(withValueAt(body, path, () => undefined)) ?? '');
  const added = fc.tuple(place, memberName, rawValue).map(([[body, path], name, raw]) => {
    const grown = withValueAt(body, path, (old) =>
      Array.isArray(old) ? [...old, MARK] : { ...(typeof old === 'object' ? old : {}), [name]: MARK },
    );
    return JSON.stringify(grown).replace(`"${MARK}"`, () => raw);
  });
  const twice = base.map((body) => JSON.stringify(body).replace(/^\{(("[^"]*"):)/, '{$2:null,$1'));
  const cut = fc
    .tuple(base, fc.nat(400))
    .map(([body, length]) => JSON.stringify(body).slice(0, length % JSON.stringify(body).length));
  const wrapped = fc.tuple(base, fc.constantFrom('[%]', '{"a":%}', '[%,%]', '% %', '\ufeff%', '%,', '// x\n%', '(%)'));
  return fc.oneof(
    { weight: 8, arbitrary: replaced },
    { weight: 3, arbitrary: removed },
    { weight: 3, arbitrary: added },
    { weight: 1, arbitrary: twice },
    { weight: 2, arbitrary: cut },
    { weight: 1, arbitrary: wrapped.map(([body, form]) => form.replaceAll('%', () => JSON.stringify(body))) },
    { weight: 1, arbitrary: rawValue },
  );
}

const segment = fc.oneof(
  fc.constantFrom(
    '%00',
    '%',
    '%zz',
    '%ff',
    '%ED%A0%80',
    // Dots alone would make another path of it, which names another operation.
    '..x',
    '.x',
    '%2F',
    '%252F',
    '%252500',
    '%20',
    '*',
    'x'.repeat(3_000),
  ),
  fc.constantFrom(
    '%F0%9F%99%82',
    'none',
    'constructor',
    '__proto__',
    '{component_id}',
    ':id',
    ';a=b',
    'X1',
    'x1%0d%0aa',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const queryValue = fc.oneof(
  fc.constantFrom(
    '',
    'true',
    'FALSE',
    '1',
    '0',
    '-1',
    '1.0',
    '0x10',
    '1e3',
    'null',
    '99999999999999999999',
    '9'.repeat(500),
  ),
  fc.constantFrom(
    '%00',
    '%zz',
    '%ff',
    'a=b',
    'a=b=c',
    '=',
    ',',
    'pending,failed',
    '999999999d',
    '9d ',
    '%F0%9F%99%82',
    '[]',
    '{}',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const strayName = fc.constantFrom('nonsense', '__proto__', 'ids[]', 'limit[$gt]', '', 'constructor');

function badQuery(names: readonly string[]): fc.Arbitrary<string> {
  const name =
    names.length === 0 ? strayName : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, strayName);
  const pair = fc.tuple(name, queryValue, fc.constantFrom('=', '=', '=', '', '==')).map((parts) => {
    return `${parts[0]}${parts[2]}${parts[1]}`;
  });
  return fc.array(pair, { minLength: 1, maxLength: 4 }).map((pairs) => pairs.join('&'));
}

const headerText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '*',
    'null',
    ',',
    ';',
    '"',
    'x'.repeat(300),
    '\u00ff\u00fe',
    "' or 1=1",
    '../..',
    '%00',
    '0',
    '-1',
  ),
  fc.string({ maxLength: 30 }).map((text) => text.replace(/[^\x20-\x7e]/g, '')),
);
const header = fc.oneof(
  fc.tuple(
    fc.constantFrom(
      'cray-tenant-name',
      'idempotency-key',
      'x-request-id',
      'accept',
      'accept-encoding',
      'if-match',
      'range',
    ),
    headerText,
  ),
  fc.tuple(
    fc.constantFrom(
      'origin',
      'sec-fetch-site',
      'referer',
      'cookie',
      'x-forwarded-for',
      'x-http-method-override',
      'last-event-id',
    ),
    headerText,
  ),
  fc.constantFrom<[string, string]>(
    ['host', 'elsewhere.example'],
    ['host', ''],
    ['authorization', 'Bearer'],
    ['authorization', 'Basic eDp5'],
    ['content-encoding', 'gzip'],
    ['content-length', '3'],
    ['expect', 'nonsense'],
    ['cray-tenant-name', 'unknown'],
    ['cray-tenant-name', 'x'.repeat(128)],
    ['accept', 'text/html;q=nonsense'],
  ),
);
const contentType = fc.constantFrom(
  'text/plain',
  'application/jsonx',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/json;',
  'APPLICATION/JSON; charset=utf-16',
  'application/json, text/plain',
  ';;;',
  ' ',
);

/** Requests that differ from the base in its body, path, query, headers or content type, mostly in one of them. */
export function badRequest(base: BaseRequest): fc.Arbitrary<BadRequest> {
  const hasParameters = base.path.includes('{');
  const body =
    base.bodies.length === 0
      ? fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: rawValue })
      : fc.oneof(
          { weight: 6, arbitrary: badBody(base.bodies) },
          { weight: 1, arbitrary: fc.constant(undefined) },
          { weight: 2, arbitrary: fc.constantFrom(...base.bodies).map((value) => JSON.stringify(value)) },
        );
  const sometimes = <T>(weight: number, arbitrary: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 10 - weight, arbitrary: fc.constant(null) }, { weight, arbitrary });
  return fc
    .record({
      body,
      segment: sometimes(hasParameters ? 3 : 0, segment),
      query: sometimes(base.query.length > 0 ? 6 : 1, badQuery(base.query)),
      headers: sometimes(2, fc.array(header, { minLength: 1, maxLength: 2 })),
      type: sometimes(base.bodies.length > 0 ? 1 : 2, contentType),
    })
    .map(({ body, segment, query, headers, type }) => {
      const path = base.path.replace(/\{([^}]+)\}/g, (_all, name: string) => segment ?? NAMES[name] ?? 'x');
      return {
        operation: base.operation,
        method: base.method,
        url: query === null ? path : `${path}?${query}`,
        headers: {
          ...(body === undefined && type === null ? {} : { 'content-type': type ?? 'application/json' }),
          ...Object.fromEntries(headers ?? []),
        },
        body,
      };
    });
}
