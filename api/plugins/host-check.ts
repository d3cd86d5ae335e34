import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { musterError } from '../../domain/errors.ts';
import type { ApiDependencies, ApiServer } from '../dependencies.ts';

const LOOPBACK = /^(localhost|.+\.localhost|127\.[0-9.]+|::1)$/;

/**
 * Answers only requests that name this API in `Host`: a loopback name, the address the connection came in by, or a listed
 * name. Else a page of another site could point a name of its own at this machine and read answers as its own.
 */
export function hostCheck(app: ApiServer, { allowedHosts }: Pick<ApiDependencies, 'allowedHosts'>): void {
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  app.addHook('onRequest', async (request) => {
    const host = hostOf(request.headers.host ?? '');
    if (LOOPBACK.test(host) || allowed.has(host) || (isIP(host) > 0 && host === ownAddress(request))) return;
    throw musterError('host_not_allowed', `This API does not answer to the host '${host.slice(0, 200)}'`);
  });
}

/** The name without port, brackets and a final dot. */
function hostOf(header: string): string {
  const name = header
    .trim()
    .toLowerCase()
    .replace(/:[0-9]*$/, '');
  return name.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function ownAddress(request: FastifyRequest): string | undefined {
  return request.socket.localAddress?.replace(/^::ffff:/, '');
}
