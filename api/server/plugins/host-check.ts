import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { musterError } from '../../../domain/errors.ts';
import type { ApiSettings } from '../../shared/api-shared.ts';
import type { ApiServer } from '../api-server.ts';

/** Names that no resolver gives to another machine: browsers answer `*.localhost` themselves. */
const LOOPBACK = /^(localhost|([a-z0-9-]+\.)+localhost|127(\.[0-9]{1,3}){3}|::1)$/;

/**
 * Answers only requests that name this API in `Host`: a loopback name, the address the connection came in by, or a listed
 * name. Else a page of another site could point a name of its own at this machine and read answers as its own.
 */
export function hostCheck(app: ApiServer, { allowedHosts }: Pick<ApiSettings, 'allowedHosts'>): void {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  app.addHook('onRequest', async (request) => {
    if (countOf(request, 'host') > 1) throw musterError('bad_request', 'The request has more than one Host header');
    if (request.headers.host === undefined) {
      if (request.raw.httpVersion === '1.0' && isHealth(request)) return;
      throw musterError('bad_request', 'The request has no Host header');
    }
    const host = hostOf(request.headers.host);
    if (LOOPBACK.test(host) || allowed.has(host) || (isIP(host) > 0 && host === ownAddress(request))) return;
    throw musterError('host_not_allowed', `This API does not answer to the host '${host.slice(0, 200)}'`);
  });
}

/** Balancers ask for the health in HTTP/1.0, which knows no Host; a page of another site cannot send such a request. */
function isHealth({ method, routeOptions }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && HEALTH.test(routeOptions.url ?? '');
}

const HEALTH = /\/(healthz|livez|readyz)$/;

/** How often a header is there; of several the framework shows the first. */
function countOf({ raw }: FastifyRequest, name: string): number {
  return raw.rawHeaders.filter((text, place) => place % 2 === 0 && text.toLowerCase() === name).length;
}

/** The name without port, brackets and a final dot. */
function hostOf(header: string): string {
  const [, bracketed, name = ''] =
    /^(?:\[([0-9a-f:.]*)\]|([^:[\]]*))(?::[0-9]*)?$/.exec(header.trim().toLowerCase()) ?? [];
  return bracketed ?? name.replace(/\.$/, '');
}

function ownAddress(request: FastifyRequest): string | undefined {
  return request.socket.localAddress?.replace(/^::ffff:/, '');
}
