import type { FastifyRequest } from 'fastify';
import { musterError } from '../../../domain/errors.ts';
import type { ApiServer } from '../api-server.ts';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** What keeps answers out of pages of other origins: no guessing of types, no embedding, no frames. */
const PRIVATE_ANSWERS = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

/**
 * Refuses writes that a browser sends for a page of another origin, whatever the access mode; programs send neither of the
 * two headers. Nothing ever allows other origins to read, so no answer has CORS headers. No route changes anything on a read.
 */
export function crossSiteCheck(app: ApiServer): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(PRIVATE_ANSWERS);
    if (request.protocol === 'https') reply.header('strict-transport-security', 'max-age=31536000');
    if (READS.has(request.method)) return;
    const site = request.headers['sec-fetch-site'];
    const { origin } = request.headers;
    const foreign =
      (site !== undefined && site !== 'same-origin' && site !== 'none') ||
      (origin !== undefined && !isOwnOrigin(origin, request));
    if (foreign) throw musterError('cross_site', 'Writes from pages of other sites are refused');
  });
}

/**
 * Whether a page of this origin is a page of this API: the same host and port as it was asked by, and with TLS the same
 * scheme. Without it the scheme may differ, since a gateway in front may speak TLS for us.
 */
function isOwnOrigin(origin: string, { headers, protocol }: FastifyRequest): boolean {
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (page.protocol !== 'https:' && (protocol === 'https' || page.protocol !== 'http:')) return false;
  // With the page's scheme, so that a port which is its usual one is the same whether it is said or not.
  const asked = `${page.protocol}//${(headers.host ?? '').trim()}`;
  return URL.canParse(asked) && page.host === new URL(asked).host;
}
