import type { FastifyReply, FastifyRequest } from 'fastify';
import { musterError } from '../../../domain/errors.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ServiceApi } from './dependencies.ts';

/** Headers of a client that are the API's matter alone: who asks, and from which page. */
const OWN_HEADERS = ['authorization', 'origin', 'referer', 'sec-fetch-site', 'x-forwarded-host', 'x-forwarded-for'];
/** What an answer says to pages of other origins; the API says that itself. */
const TOLD_BY_API = /^(access-control-.*|x-frame-options|cross-origin-.*)$/;
const CHANGES = ['POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Hands Temporal's web UI on, which has no login and no check of its own: the API's checks of host, page, token and role come first.
 * Who may read sees it, and who may change sessions may act there.
 */
export async function temporalUi(
  app: ApiServer,
  { temporalUiUpstream }: Pick<ServiceApi, 'temporalUiUpstream'>,
): Promise<void> {
  if (temporalUiUpstream !== undefined) {
    const { default: replyFrom } = await import('@fastify/reply-from');
    const { origin } = new URL(temporalUiUpstream);
    await app.register(replyFrom, { base: origin, http: {}, disableCache: true, disableRequestLogging: true });
  }
  const handOn = async (request: FastifyRequest, reply: FastifyReply) => {
    if (temporalUiUpstream === undefined) {
      throw musterError('not_found', "There is no web UI of Temporal's here");
    }
    const body = Buffer.isBuffer(request.body) && request.body.length > 0 ? request.body.toString() : null;
    return await reply.from(request.url, {
      ...(CHANGES.includes(request.method)
        ? { body, contentType: request.headers['content-type'] ?? 'application/json' }
        : {}),
      rewriteRequestHeaders: (_, headers) =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name))),
      rewriteHeaders: (headers) =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => !TOLD_BY_API.test(name))),
      onError: (answer) => {
        void answer.send(musterError('engine_unavailable', "Temporal's web UI does not answer"));
      },
    });
  };
  const schema = { hide: true };
  const read = { access: 'reader', class: 'remote' } as const;
  app.get('/temporal', { schema, config: read }, async (_request, reply) => reply.redirect('temporal/', 308));
  app.get('/temporal/', { schema, config: { access: 'reader', class: 'free' } }, handOn);
  app.get('/temporal/*', { schema, config: read }, handOn);
  // What is changed there changes sessions. However large the body is, it is Temporal that is waited for.
  const change = { access: 'operator', class: () => 'remote' as const } as const;
  for (const method of CHANGES) app.route({ method, url: '/temporal/*', schema, config: change, handler: handOn });
}
