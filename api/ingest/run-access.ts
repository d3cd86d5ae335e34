import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashToken } from '../../control/access/token-secret.ts';
import { runOfToken } from '../../control/runs/run-of-token.ts';
import { bearerOf } from '../../domain/access/bearer.ts';
import { musterError } from '../../domain/errors.ts';
import { openFailureBook } from '../access/failure-book.ts';
import type { ApiServer } from '../dependencies.ts';
import type { IngestDependencies } from './dependencies.ts';

/**
 * Lets in the token of a run, to that run alone and before anything of the request is read. Another run is `forbidden` whether
 * it exists or not; a token of the API, of a removed run or of one that ended too long ago is `unauthenticated`.
 */
export function runAccess(app: ApiServer, { db, clock, spoolSeconds }: IngestDependencies): void {
  const book = openFailureBook((token) => hashToken(token).toString('base64url'));

  app.addHook('onRequest', async (request, reply) => {
    const credential = bearerOf(request.headers.authorization);
    if (credential.kind !== 'bearer') {
      reply.header('www-authenticate', 'Bearer realm="muster-ingest"');
      const detail = credential.kind === 'none' ? 'This needs the token of a run' : credential.reason;
      throw musterError('unauthenticated', detail);
    }
    const run = await identify(request, reply, credential.token);
    const { run_id: asked } = request.params as { run_id?: string };
    if (asked !== undefined && asked !== run) throw musterError('forbidden', 'The token is of another run');
  });

  async function identify(request: FastifyRequest, reply: FastifyReply, token: string): Promise<string> {
    const address = request.socket.remoteAddress ?? '';
    const seconds = Math.ceil(book.wait(address, token, Date.now()) / 1000);
    if (seconds > 0) {
      reply.header('retry-after', String(seconds));
      throw musterError('too_many_failures', `Too many wrong tokens came from here; try again in ${seconds} s`);
    }
    const run = await runOfToken(db, token, { spoolSeconds, now: clock() });
    if (run === null) {
      book.failed(address, token, Date.now());
      reply.header('www-authenticate', 'Bearer realm="muster-ingest", error="invalid_token"');
      throw musterError('unauthenticated', 'The token is of no run, or its run has ended');
    }
    book.accepted(token);
    return run;
  }
}
