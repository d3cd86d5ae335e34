import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import { PROBLEM_TYPE } from '../server/problems.ts';
import {
  BINARY_ANSWERS,
  BINARY_BODIES,
  OPTIONAL_BODIES,
  OTHER_MEDIA,
  REQUEST_EXAMPLES,
  TEXT_ANSWERS,
} from './bodies.ts';
import type { DescribedRoute } from './described-routes.ts';
import type { JsonSchema, JsonSchemas } from './json-schemas.ts';
import { parametersOf } from './parameters.ts';
import { accessOfRoute, refusalsOf } from './refusals.ts';
import { operationId } from './surfaces.ts';

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } };
const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

/** Bytes as they are. */
const BYTES = { type: 'string', format: 'binary' };

/** An operation of the document: what may be sent, and everything that may come back. */
export function operationOf(route: DescribedRoute, requests: JsonSchemas, answers: JsonSchemas): JsonSchema {
  const { schema } = route;
  const id = operationId(route.method, route.path);
  const body = requestBody(id, route, requests);
  const parameters = parametersOf(route, requests, BINARY_BODIES[id] !== undefined);
  const access = accessOfRoute(route);
  return {
    operationId: id,
    summary: schema.summary,
    ...(schema.description === undefined ? {} : { description: schema.description }),
    tags: schema.tags ?? [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responses(id, route, answers),
    security: access.least === 'public' ? [] : [{ bearer: [] }],
    'x-muster-role': access.least,
    ...(access.ownComponent ? { 'x-muster-own-component': true } : {}),
  };
}

function requestBody(id: string, { schema }: DescribedRoute, requests: JsonSchemas): JsonSchema | undefined {
  const binary = BINARY_BODIES[id];
  if (binary !== undefined) return { required: true, content: { [binary]: { schema: BYTES } } };
  const body = schema.body instanceof z.ZodType ? schema.body : OPTIONAL_BODIES[id];
  if (body === undefined) return undefined;
  const examples = Object.entries(REQUEST_EXAMPLES[id] ?? {}).map(([name, value]) => [name, { value }]);
  const media = {
    schema: requests.of(body),
    ...(examples.length === 0 ? {} : { examples: Object.fromEntries(examples) }),
  };
  return { required: schema.body !== undefined, content: { 'application/json': media } };
}

function responses(id: string, route: DescribedRoute, answers: JsonSchemas): JsonSchema {
  const found: JsonSchema = {};
  const declared = Object.entries((route.schema.response ?? {}) as Record<string, z.ZodType>);
  for (const [status, schema] of declared) found[status] = answer(id, status, schema, answers);
  for (const [status, codes] of refusalsOf(route)) found[status] ??= refusal(status, codes);
  return found;
}

function answer(id: string, status: string, schema: z.ZodType, answers: JsonSchemas): JsonSchema {
  const description = schema.description ?? STATUS_CODES[status] ?? status;
  if (schema instanceof z.ZodUndefined) return { description, headers: REQUEST_ID };
  if (TEXT_ANSWERS.has(id)) {
    return { description, headers: REQUEST_ID, content: { 'text/plain': { schema: answers.of(schema) } } };
  }
  const binary = BINARY_ANSWERS[id];
  if (binary !== undefined) return { description, headers: REQUEST_ID, content: { [binary]: { schema: BYTES } } };
  const others = (OTHER_MEDIA[id] ?? []).map((type) => [type, { schema: { type: 'string' } }]);
  const content = { 'application/json': { schema: answers.of(schema) }, ...Object.fromEntries(others) };
  return { description, headers: REQUEST_ID, content };
}

function refusal(status: number, codes: readonly ErrorCode[]): JsonSchema {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('\n\n'),
    headers: status === 503 || status === 429 ? { ...REQUEST_ID, ...RETRY_AFTER } : REQUEST_ID,
    content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}
