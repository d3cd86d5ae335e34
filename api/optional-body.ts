import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { readJsonBody } from './server/json-body.ts';
import { bodyMistake } from './server/schema-mistakes.ts';

/** A body that may be absent, else JSON that fits. Throws `body_not_json`, `bad_request`. */
export function optionalBody<Schema extends z.ZodType>(request: FastifyRequest, schema: Schema): z.infer<Schema> {
  const sent = readJsonBody(request);
  const body = sent === undefined ? {} : sent;
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw bodyMistake(parsed.error, body, schema);
  return parsed.data;
}
