import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isMusterError, type MusterError, musterError } from '../../../domain/errors.ts';
import { convertQuery, NO_PARAMETERS, refusesUnknown } from '../../query.ts';
import type { ApiServer } from '../api-server.ts';
import { isStorable, readTextBody } from '../json-body.ts';
import { checkInSlices, isLargeList, parseLargeJson } from '../large-lists.ts';
import { checkFormType } from '../multipart.ts';
import { bodyMistake, parameterMistake } from '../schema-mistakes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** That a body is missing is said before anything about its type: 400 instead of 415. */
    absentBodyFirst?: boolean;
    /** What a mistake in a body that is there, and is JSON, is answered as; default: as it is. */
    bodyMistakeAs?: (mistake: MusterError) => MusterError;
    /** Whether a body may also be plain text, which the schema sees as a string. */
    takesText?: boolean;
    /** The body stays bytes: JSON and schema are checked by the route, away from other requests. */
    keepsBytes?: boolean;
  }
}

/** JSON, also of a kind with a name of its own, such as `application/merge-patch+json`. */
const JSON_TYPE = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json[ \t]*(;|$)/i;

const TEXT_TYPE = /^text\/plain[ \t]*(;|$)/i;

/**
 * Checks in CFS's order (cfs-api 2): path, query and content type before a byte of the body is read; then that the body is
 * JSON; then its schema. A route with `absentBodyFirst` in its config answers that there is no body whatever its type says.
 */
export function requestChecks(app: ApiServer): void {
  app.addHook('onRequest', async (request, reply) => {
    const schema = request.routeOptions.schema ?? {};
    if (Object.values(request.params as object).includes('')) return reply.callNotFound();
    if (schema.params instanceof z.ZodObject) checkPath(request, schema.params);
    const strict = refusesUnknown(request.method, request.routeOptions.url ?? '');
    const query = schema.querystring ?? (strict ? NO_PARAMETERS : undefined);
    if (query instanceof z.ZodType) checkQuery(request, query, strict);
    if (schema.headers instanceof z.ZodObject) checkHeaders(request, schema.headers);
    const isOfNoType = request.routeOptions.config.absentBodyFirst === true && hasNoBody(request);
    if (request.routeOptions.config.multipart === true) {
      if (hasNoBody(request)) throw musterError('bad_request', 'The body is missing: a form is needed');
      checkFormType(request);
    } else if (schema.body !== undefined && !isOfNoType) checkContentType(request);
    // A route without body takes any; a type that cannot be parsed must not be refused by the framework either.
    else delete request.headers['content-type'];
    return undefined;
  });

  const checked = new WeakSet<object>();
  app.addHook('preValidation', async (request) => {
    const schema = request.routeOptions.schema?.body;
    if (schema === undefined) return;
    const bytes = request.body;
    const { bodyMistakeAs, keepsBytes } = request.routeOptions.config;
    const isThere = Buffer.isBuffer(bytes) && bytes.length > 0;
    if (isThere && keepsBytes) return void checked.add(bytes);
    if (isThere) request.body = isText(request) ? readTextBody(bytes) : await parsedAs(bytes, bodyMistakeAs);
    else request.body = undefined;
    if (!(schema instanceof z.ZodType)) return;
    if (request.body === undefined) return refuseAbsent(schema);
    if (!isLargeList(request.body) || !takesList(schema)) return;
    const list = (await checkInSlices(schema, request.body)) as object;
    checked.add(list);
    request.body = list;
  });

  app.setValidatorCompiler(({ schema, httpPart }) => (data: unknown) => {
    if (httpPart !== 'body' || !(schema instanceof z.ZodType)) return { value: data };
    if (typeof data === 'object' && data !== null && checked.has(data)) return { value: data };
    const result = schema.safeParse(data);
    return result.success ? { value: result.data } : { error: bodyMistake(result.error, data, schema) };
  });
}

/** The data of a body; what it says is wrong with one that is JSON is told in the words of the route. */
async function parsedAs(bytes: Buffer, bodyMistakeAs: ((mistake: MusterError) => MusterError) | undefined) {
  try {
    return await parseLargeJson(bytes);
  } catch (error) {
    const isMistake = isMusterError(error) && error.code !== 'body_not_json';
    throw isMistake && bodyMistakeAs !== undefined ? bodyMistakeAs(error) : error;
  }
}

/** Whether a schema may take an array, so that it can be asked about slices of one. */
function takesList(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodPipe) return takesList(schema.def.in);
  if (schema instanceof z.ZodUnion) return schema.def.options.some(takesList);
  return schema instanceof z.ZodArray;
}

function isText({ routeOptions, headers }: FastifyRequest): boolean {
  return routeOptions.config.takesText === true && TEXT_TYPE.test(headers['content-type']?.trim() ?? '');
}

/** The framework shows an absent body to the validator as null, which is another mistake. */
function refuseAbsent(schema: z.ZodType): void {
  const result = schema.safeParse(undefined);
  if (!result.success) throw bodyMistake(result.error, undefined, schema);
}

function checkPath(request: FastifyRequest, schema: z.ZodObject): void {
  for (const [name, value] of Object.entries(request.params as Record<string, string>)) {
    if (!isStorable(value)) throw musterError('bad_request', `The path parameter '${name}' has a NUL character`);
  }
  const result = schema.safeParse(request.params);
  if (!result.success) throw parameterMistake(result.error, request.params, 'path');
  request.params = result.data;
}

function checkQuery(request: FastifyRequest, schema: z.ZodType, strict: boolean): void {
  const query = convertQuery(parametersOf(schema), request.query as Record<string, string>, strict);
  for (const [name, value] of Object.entries(query)) {
    const texts = Array.isArray(value) ? value : [value];
    if (texts.some((text) => typeof text === 'string' && !isStorable(text))) {
      throw musterError('bad_request', `The query parameter '${name}' has a NUL character`);
    }
  }
  const result = schema.safeParse(query);
  if (!result.success) throw parameterMistake(result.error, query, 'query');
  request.query = result.data;
}

/** The parameters that a schema takes, also one that goes on to rename them. */
function parametersOf(schema: z.core.$ZodType): z.ZodObject {
  if (schema instanceof z.ZodPipe) return parametersOf(schema.def.in);
  if (schema instanceof z.ZodObject) return schema;
  throw new TypeError('the schema of a query is no object');
}

function checkHeaders(request: FastifyRequest, schema: z.ZodObject): void {
  const result = schema.safeParse(request.headers);
  if (!result.success) throw parameterMistake(result.error, request.headers, 'header');
}

function hasNoBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

function checkContentType(request: FastifyRequest): void {
  const type = request.headers['content-type'];
  if (isText(request) || (type !== undefined && JSON_TYPE.test(type.trim()))) return;
  throw musterError(
    'unsupported_media_type',
    `Invalid Content-type (${type ?? ''}), expected application/json${request.routeOptions.config.takesText ? ' or text/plain' : ''}`,
  );
}
