import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';

/**
 * The server as route files see it. Paths are `/v3/...` in CFS plugins (the app adds the prefixes) and without `/api/v1` in
 * Muster's own (the app adds it).
 *
 * Schemas: `params`, `querystring` (plain `z.boolean()`, `z.int()`, enumerations, strings: the app converts the text, the
 * last of a repeated parameter wins, unknown ones are dropped) and `body`. A route with `body` demands JSON (415, 400); one
 * without ignores whatever body comes, unless it asks for it with `readJsonBody(request)` of `json-body.ts`. Handlers throw
 * MusterErrors; the app makes problem documents of them. `response` schemas only document: answers are sent as they are.
 */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;
