import { musterError } from '../../domain/errors.ts';
import type { ApiServer } from '../dependencies.ts';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses writes that a browser sends for a page of another origin, whatever the access mode; programs send neither of the
 * two headers. Nothing ever allows other origins to read, so no answer has CORS headers.
 */
export function crossSiteCheck(app: ApiServer): void {
  app.addHook('onRequest', async (request) => {
    if (READS.has(request.method)) return;
    const site = request.headers['sec-fetch-site'];
    const origin = request.headers.origin;
    const foreign =
      (site !== undefined && site !== 'same-origin' && site !== 'none') ||
      (origin !== undefined && !isOwnOrigin(origin, request.headers.host ?? ''));
    if (foreign) throw musterError('cross_site', 'Writes from pages of other sites are refused');
  });
}

function isOwnOrigin(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.trim().toLowerCase();
}
