import { z } from 'zod';
import { ERRORS } from '../../domain/errors.ts';
import type { DescribedRoute } from './described-routes.ts';
import { type JsonSchema, toJsonSchemas } from './json-schemas.ts';
import { operationOf } from './operations.ts';
import { type DocumentName, isInDocument, TITLES } from './surfaces.ts';

const DESCRIPTION = `Times of sessions (\`start_time\`, \`completion_time\`) have no zone and are UTC; all other times end with \`Z\`.
Members that are not known yet are null. Lengths count code points. Integers are written without fraction and exponent: \`10.0\`
is refused.

Refusals are problem documents (RFC 7807) whose \`code\` is stable. Besides what each operation lists, any request may be
answered with 404 and 405 (path or method unknown), 408 (sent too slowly), 421 (other host) and 431 (URL and headers above 256 KiB).

Unknown query parameters are ignored, the last of a repeated one wins. Unknown members of a body are refused.`;

/** What is said of a tag, by its name. */
export type TagTexts = Readonly<Record<string, string>>;

export interface DocumentSettings {
  version: string;
  prefixes: readonly string[];
  tags: TagTexts;
}

/**
 * The OpenAPI 3.1 document of a surface. Paths are in code-point order, so that the same routes give the same document.
 * Throws when a route is in no document at all.
 */
export function buildDocument(
  name: DocumentName,
  routes: readonly DescribedRoute[],
  { version, prefixes, tags }: DocumentSettings,
): JsonSchema {
  const stray = routes.find(({ path }) => !isInDocument(path, 'all'));
  if (stray) throw new Error(`${stray.method} ${stray.path} is in no document: see surfacesOf`);
  const chosen = routes
    .filter((route) => isInDocument(route.path, name))
    .sort((one, other) => compare(`${one.path} ${one.method}`, `${other.path} ${other.method}`));
  const requests = toJsonSchemas(chosen.flatMap(requestSchemas), 'input');
  const answers = toJsonSchemas(chosen.flatMap(answerSchemas), 'output', requests.named);
  const paths: Record<string, JsonSchema> = {};
  const ofOperations: Record<string, JsonSchema> = {};
  for (const route of chosen) {
    const item = paths[route.path] ?? {};
    paths[route.path] = item;
    item[route.method] = operationOf(route, { requests, answers, ofOperations });
  }
  const own: Record<string, JsonSchema> = { Problem: problemIn(name), ...requests.named, ...answers.named };
  const twice = Object.keys(ofOperations).find((schema) => Object.hasOwn(own, schema));
  if (twice !== undefined) throw new Error(`${twice} names a schema and that of an operation`);
  const schemas = { ...own, ...ofOperations };
  return {
    openapi: '3.1.0',
    info: {
      title: TITLES[name],
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: serversOf(name, prefixes),
    tags: tagsOf(chosen, tags),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([one], [other]) => compare(one, other))),
      headers: HEADERS,
      securitySchemes: { bearer: BEARER },
    },
  };
}

/** Muster's own routes have no prefix besides their own. */
function serversOf(name: DocumentName, prefixes: readonly string[]): JsonSchema[] {
  const given = name === 'muster' || name === 'ims' || name === 'placement' ? [''] : prefixes;
  return given.map((prefix) => ({
    url: prefix === '' ? '/' : prefix,
    description: prefix === '' ? 'The service itself' : 'Behind the gateway',
  }));
}

function requestSchemas({ schema }: DescribedRoute): z.ZodType[] {
  const { params, querystring, headers, body, optionalBody } = schema;
  return [params, querystring, headers, body, optionalBody].filter((part) => part instanceof z.ZodType);
}

function answerSchemas({ schema }: DescribedRoute): z.ZodType[] {
  const answers = Object.values((schema.response ?? {}) as Record<string, unknown>);
  return answers.filter((part) => part instanceof z.ZodType && !(part instanceof z.ZodUndefined)) as z.ZodType[];
}

/** Returns the tags of the routes by name, with the texts of the lanes that have one. */
function tagsOf(routes: readonly DescribedRoute[], texts: TagTexts): JsonSchema[] {
  const names = [...new Set(routes.flatMap(({ schema }) => schema.tags ?? []))].sort(compare);
  return names.map((name) => ({ name, ...(texts[name] === undefined ? {} : { description: texts[name] }) }));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description:
    'A token of `muster token create`, or one of the issuer that is set. `x-muster-role` of an operation is the weakest role ' +
    'that may use it; with `x-muster-own-component` a token of the role node may use it for its own component. Where ' +
    '`MUSTER_AUTH` is `none`, no token is asked for.',
};

const HEADERS = {
  RequestId: {
    description:
      "The request's id in the log: that of the request header `X-Request-Id` if it is a plain word, else a new one.",
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' },
  },
  RetryAfter: {
    description: 'Seconds after which it is worth while to try again.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
};

/** Other surfaces refuse with one mistake, and their documents are those of their clients. */
function problemIn(name: DocumentName): JsonSchema {
  if (name === 'v2' || name === 'v3' || name === 'ims') return PROBLEM;
  return { ...PROBLEM, properties: { ...PROBLEM.properties, errors: MISTAKES, position: POSITION } };
}

const POSITION = { type: 'integer', description: 'Place in an expression, in characters counted from 0.' };

const MISTAKES = {
  type: 'array',
  description: 'Every mistake, where there are several or where their places are known.',
  items: {
    type: 'object',
    required: ['code', 'message'],
    properties: {
      code: { enum: Object.keys(ERRORS) },
      message: { type: 'string' },
      field: { type: 'string', description: 'Path of the member.' },
      line: { type: 'integer', description: 'Place in a text, counted from 1.' },
      column: { type: 'integer' },
      position: POSITION,
      names: {
        type: 'array',
        items: { type: 'string' },
        description: 'What the mistake is about, such as the members of a loop.',
      },
    },
    additionalProperties: false,
  },
};

const PROBLEM = {
  type: 'object',
  description: 'Why a request was refused (RFC 7807).',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'What kind of problem it is; fixed for a code.' },
    status: { type: 'integer', description: 'The status of the answer.' },
    detail: { type: 'string', description: 'A sentence for people; it names the value or the field.' },
    code: { enum: Object.keys(ERRORS), description: 'Stable word for programs.' },
  },
  additionalProperties: false,
};
