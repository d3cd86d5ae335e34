import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type AnswerOnce,
  createAnswerOnce,
  type KeptAnswer,
  type Operation,
} from '../../../control/requests/answer-once.ts';
import { musterError } from '../../../domain/errors.ts';
import { isIdempotencyKey } from '../../../domain/requests/idempotency.ts';
import type { ApiShared, ApiSite } from '../../shared/api-shared.ts';
import type { ApiServer } from '../api-server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Work under an `Idempotency-Key`; null for requests without. */
    operation: Operation | null;
  }
}

/** Marks an answer that was given before. */
const REPLAYED_HEADER = 'idempotency-replayed';
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Headers that are part of what was answered; the others belong to the connection or to the moment. */
const KEPT_HEADERS = ['content-type', 'location', 'etag', 'cache-control'];
const NOTHING = Buffer.of();
/** Time between two looks for expired answers, ms. */
const SWEEP_MS = 10 * 60_000;

/**
 * `Idempotency-Key`: a write that comes again with the same key within 24 h gets the first answer again and changes nothing.
 * The body's bytes are kept for comparison until the request's checks are done, so it comes before what parses them.
 */
export function idempotency(
  app: ApiServer,
  deps: Pick<ApiShared, 'db' | 'clock' | 'log'> & Pick<ApiSite, 'secrets'>,
): void {
  const once = createAnswerOnce(deps);
  const bodies = new WeakMap<FastifyRequest, Uint8Array>();
  app.decorateRequest('operation', null);
  sweepNowAndThen(app, deps, once);

  app.addHook('onRequest', async (request) => {
    const key = writtenKey(request);
    if (key === undefined || isIdempotencyKey(key)) return;
    throw musterError('bad_request', 'An Idempotency-Key has 1 to 255 printable ASCII characters');
  });
  app.addHook('preValidation', async (request) => {
    if (keyOf(request) === undefined) return;
    if (request.body instanceof Readable) {
      const detail =
        'An upload takes no Idempotency-Key, since its file is not kept for comparison: leave the header out';
      throw musterError('bad_request', `${detail}, and look for the image by its name before the file is sent again`);
    }
    bodies.set(request, Buffer.isBuffer(request.body) ? request.body : NOTHING);
  });
  app.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request);
    if (key === undefined) return undefined;
    const { method, url, actor } = request;
    const tenant = String(request.headers['cray-tenant-name'] ?? '');
    const claim = await once.claim({ key, actor, tenant, method, url }, bodies.get(request) ?? NOTHING);
    bodies.delete(request);
    if ('again' in claim) return sendAgain(reply, claim.again);
    request.operation = claim.first;
    return undefined;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { operation } = request;
    request.operation = null;
    await operation?.end(answerOf(reply, payload));
  });
}

/** The key under which the answer is kept. */
function keyOf(request: FastifyRequest): string | undefined {
  return request.routeOptions.config.changesNothing ? undefined : writtenKey(request);
}

function writtenKey(request: FastifyRequest): string | undefined {
  return WRITES.has(request.method) ? request.headers['idempotency-key']?.toString() : undefined;
}

function sendAgain(reply: FastifyReply, { status, headers, body }: KeptAnswer): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .header(REPLAYED_HEADER, 'true')
    .send(body ?? undefined);
}

/** The answer as it goes out; null for one that is still being made while it is sent. */
function answerOf(reply: FastifyReply, payload: unknown): KeptAnswer | null {
  const isBytes = typeof payload === 'string' || Buffer.isBuffer(payload);
  if (!isBytes && payload !== undefined && payload !== null) return null;
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) headers[name] = String(value);
  }
  return { status: reply.statusCode, headers, body: isBytes ? Buffer.from(payload) : null };
}

function sweepNowAndThen(app: ApiServer, { log }: Pick<ApiShared, 'log'>, once: AnswerOnce): void {
  let timer: NodeJS.Timeout;
  const sweep = () =>
    once.sweep().catch((error) => log.warn({ err: String(error) }, 'expired answers are not removed'));
  app.addHook('onReady', async () => {
    timer = setInterval(sweep, SWEEP_MS).unref();
  });
  app.addHook('onClose', async () => clearInterval(timer));
}
