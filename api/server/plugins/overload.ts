import type { FastifyRequest } from 'fastify';
import { musterError } from '../../../domain/errors.ts';
import type { ApiSettings, ApiShared } from '../../shared/api-shared.ts';
import { tenantOf } from '../../tenant.ts';
import { classOf, gateLimits, type RequestShape } from '../admission/request-class.ts';
import { createRequestGate, type RequestGate } from '../admission/request-gate.ts';
import type { ApiServer } from '../api-server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it was refused for there being too much to do; the log tells of those in sum. */
    isOverload: boolean;
  }
}

/** How often the log tells of refusals, ms. */
const TELL_MS = 1_000;
const OPENING_BRACE = '{'.charCodeAt(0);
const SPACE = ' '.charCodeAt(0);

/**
 * Limits how many requests are worked on at once, by class. A request takes its place when its body is there and gives it
 * back when its answer is made: slow senders and readers hold none. Who would not even be allowed to wait is refused before
 * anything is done for the request; the service's own health is always told.
 */
export function overload(
  app: ApiServer,
  { log, maxRequests }: Pick<ApiShared, 'log'> & Pick<ApiSettings, 'maxRequests'>,
): void {
  const limits = gateLimits(maxRequests);
  const gates = {
    quick: createRequestGate(limits.quick),
    list: createRequestGate(limits.list),
    bulk: createRequestGate(limits.bulk),
    remote: createRequestGate(limits.remote),
  };
  const places = new WeakMap<FastifyRequest, RequestGate>();
  const tell = refusalsTold(log);
  const refused = (request: FastifyRequest, kind: string) => {
    request.isOverload = true;
    tell(kind);
    return musterError('overloaded', 'There is more to do than this server can do in time; try again in a moment');
  };

  app.decorateRequest('isOverload', false);
  app.addHook('onRequest', async (request) => {
    const length = Number(request.headers['content-length'] ?? 0);
    const kind = kindOf(request, { length, isObject: false });
    if (kind !== 'free' && gates[kind].isShut()) throw refused(request, kind);
  });
  app.addHook('preValidation', async (request) => {
    const kind = kindOf(request, shapeOf(request.body));
    if (kind === 'free') return;
    if (!(await gates[kind].enter())) throw refused(request, kind);
    places.set(request, gates[kind]);
  });
  // Every request that got as far is answered, if only for nobody.
  app.addHook('onSend', async (request) => {
    places.get(request)?.leave();
    places.delete(request);
  });
}

type BodyShape = Omit<RequestShape, 'isOfTenant'>;

function kindOf(request: FastifyRequest, body: BodyShape) {
  const isOfTenant = tenantOf(request) !== null;
  return classOf(request.routeOptions.config.class, request.method, { ...body, isOfTenant });
}

function shapeOf(body: unknown): BodyShape {
  if (!Buffer.isBuffer(body)) return { length: 0, isObject: false };
  return { length: body.length, isObject: body.find((byte) => byte > SPACE) === OPENING_BRACE };
}

function refusalsTold(log: Pick<ApiShared['log'], 'warn'>): (kind: string) => void {
  let refused: Record<string, number> = {};
  let isDue = false;
  return (kind) => {
    refused[kind] = (refused[kind] ?? 0) + 1;
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      log.warn({ refused }, 'requests were refused: there was too much to do');
      refused = {};
      isDue = false;
    }, TELL_MS).unref();
  };
}
