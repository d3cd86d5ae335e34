/** What routes of all lanes answer and take in alike. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { NextPageSchema } from '../domain/schema.ts';
import { readJsonBody } from './server/json-body.ts';
import { bodyMistake } from './server/schema-mistakes.ts';

/** Description of a 204. */
export const NoContentSchema = z.undefined().describe('No content');

/** `next` of a list: null, or the parameters of the next page (cfs-api 3). */
export const NextSchema = NextPageSchema.nullable();

/** Returns `next` of configurations and sources, behind the record of that name. */
export function nextByName(
  query: { in_use?: boolean | undefined },
  limit: number,
  last: string,
): Record<string, unknown> {
  return { in_use: query.in_use ?? null, limit, after_id: last };
}

/**
 * Returns a body that may be absent, else JSON that fits; its route names the schema as `optionalBody`.
 * Throws `body_not_json`, `bad_request`.
 */
export function optionalBody<Schema extends z.ZodType>(request: FastifyRequest, schema: Schema): z.infer<Schema> {
  const sent = readJsonBody(request);
  const body = sent === undefined ? {} : sent;
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw bodyMistake(parsed.error, body, schema);
  return parsed.data;
}
