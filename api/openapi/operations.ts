import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { PROBLEM_TYPE } from '../server/problems.ts';
import { accessOf } from '../server/route-config.ts';
import type { DescribedRoute } from './described-routes.ts';
import type { JsonSchema, JsonSchemas } from './json-schemas.ts';
import { parametersOf } from './parameters.ts';
import { refusalsOf } from './refusals.ts';
import { operationId } from './surfaces.ts';

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

const JSON_TYPE = 'application/json';
const TEXT = { type: 'string' };
/** Bytes as they are. */
const BYTES = { type: 'string', format: 'binary' };
const OTHER: Record<string, JsonSchema> = { 'application/octet-stream': BYTES };

/** What an operation is written with. */
export interface OperationSchemas {
  requests: JsonSchemas;
  answers: JsonSchemas;
  /** Takes the bodies and answers that have no name of their own: they get that of their operation. */
  ofOperations: Record<string, JsonSchema>;
}

/** An operation of the document: what may be sent, and everything that may come back. */
export function operationOf(route: DescribedRoute, schemas: OperationSchemas): JsonSchema {
  const { schema } = route;
  const { requests } = schemas;
  const id = schema.operationId ?? operationId(route.method, route.path);
  const body = requestBody(route, id, schemas);
  const parameters = parametersOf(route, requests, schema.consumes !== undefined);
  const access = accessOf(route.config);
  return {
    operationId: id,
    summary: schema.summary,
    ...(schema.description === undefined ? {} : { description: schema.description }),
    tags: schema.tags ?? [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responses(route, id, schemas),
    security: access.least === 'public' ? [] : [{ bearer: [] }],
    'x-muster-role': access.least,
    ...(access.ownComponent ? { 'x-muster-own-component': true } : {}),
  };
}

/** Programs that make a client give a type to each name: a shape without a name gets one of theirs, which changes with the document. */
function named(schema: JsonSchema, name: string, ofOperations: Record<string, JsonSchema>): JsonSchema {
  if ('$ref' in schema) return schema;
  ofOperations[name] = schema;
  return { $ref: `#/components/schemas/${name}` };
}

/** `PostBatchesPauseBody` of `post_batches_pause` and `Body`. */
function nameOf(id: string, part: string): string {
  const words = id.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return [...words, part].join('');
}

function requestBody(
  { schema, config }: DescribedRoute,
  id: string,
  { requests, ofOperations }: OperationSchemas,
): JsonSchema | undefined {
  const binary = schema.consumes?.[0];
  if (binary !== undefined) return { required: true, content: { [binary]: { schema: BYTES } } };
  const body = schema.body instanceof z.ZodType ? schema.body : schema.optionalBody;
  if (body === undefined) return undefined;
  const told = (z.globalRegistry.get(body)?.examples ?? {}) as Record<string, unknown>;
  const examples = Object.entries(told).map(([name, value]) => [name, { value }]);
  const media = {
    schema: named(requests.of(body), nameOf(id, 'Body'), ofOperations),
    ...(examples.length === 0 ? {} : { examples: Object.fromEntries(examples) }),
  };
  const text = config.takesText ? { 'text/plain': { schema: TEXT } } : {};
  return { required: schema.body !== undefined, content: { [JSON_TYPE]: media, ...text } };
}

function responses(route: DescribedRoute, id: string, schemas: OperationSchemas): JsonSchema {
  const found: JsonSchema = {};
  const declared = Object.entries((route.schema.response ?? {}) as Record<string, z.ZodType>);
  const media = route.schema.produces ?? [JSON_TYPE];
  for (const [status, schema] of declared) {
    // Two answers of one operation are rare: one of them is that of a run beside the request, 202.
    const name = nameOf(id, status === declared[0]?.[0] ? 'Answer' : `Answer${status}`);
    found[status] = answer(media, { status, schema, name }, schemas);
  }
  for (const [status, codes] of refusalsOf(route)) found[status] ??= refusal(status, codes);
  return found;
}

function answer(
  media: readonly string[],
  { status, schema, name }: { status: string; schema: z.ZodType; name: string },
  { answers, ofOperations }: OperationSchemas,
): JsonSchema {
  const description = schema.description ?? STATUS_CODES[status] ?? status;
  if (schema instanceof z.ZodUndefined) return { description, headers: REQUEST_ID };
  const json = () => named(answers.of(schema), name, ofOperations);
  const content = media.map((type) => [type, { schema: type === JSON_TYPE ? json() : (OTHER[type] ?? TEXT) }]);
  return { description, headers: REQUEST_ID, content: Object.fromEntries(content) };
}

function refusal(status: number, codes: readonly ErrorCode[]): JsonSchema {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('\n\n'),
    headers: status === 503 || status === 429 ? { ...REQUEST_ID, ...RETRY_AFTER } : REQUEST_ID,
    content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}
