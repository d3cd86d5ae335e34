import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashToken } from '../../control/access/token-secret.ts';
import { runOfToken } from '../../control/runs/run-of-token.ts';
import { sessionOfJobToken } from '../../control/sessions/cluster/session-of-job-token.ts';
import { bearerOf } from '../../domain/access/bearer.ts';
import { musterError } from '../../domain/errors.ts';
import { RUNNER_PROTOCOL_HEADER, RUNNER_PROTOCOLS } from '../../domain/sessions/job-schema.ts';
import { sessionOfRun } from '../../domain/sessions/run-id.ts';
import { DOUBTFUL_AT_ONCE, openFailureBook, tooManyFailures } from '../server/access/failure-book.ts';
import { createTurns } from '../server/admission/turns.ts';
import type { ApiServer } from '../server/api-server.ts';
import type { IngestDependencies } from './dependencies.ts';

/** What a token lets its bearer write. */
type Owner = { kind: 'run'; runId: string } | { kind: 'job'; sessionId: string };

/**
 * Lets in the token of a run, to that run alone, and the token of a session's Job, to that session and its runs, before anything
 * of the request is read. Another run is `forbidden` whether it exists or not; a token of the API, of a removed run or of one
 * that ended too long ago is `unauthenticated`.
 */
export function runAccess(app: ApiServer, { db, clock, spoolSeconds }: IngestDependencies): void {
  const book = openFailureBook((token) => hashToken(token).toString('base64url'));
  const takeDoubtful = createTurns(DOUBTFUL_AT_ONCE);

  app.addHook('onRequest', async (request, reply) => {
    const credential = bearerOf(request.headers.authorization);
    if (credential.kind !== 'bearer') {
      reply.header('www-authenticate', 'Bearer realm="muster-ingest"');
      const detail = credential.kind === 'none' ? 'This needs the token of a run' : credential.reason;
      throw musterError('unauthenticated', detail);
    }
    const owner = await identify(request, reply, credential.token);
    const { run_id: run, session_id: session } = request.params as { run_id?: string; session_id?: string };
    if (run !== undefined && !ownsRun(owner, run)) throw musterError('forbidden', 'The token is of another run');
    if (session !== undefined && (owner.kind !== 'job' || owner.sessionId !== session)) {
      throw musterError('forbidden', "The token is not of this session's Job");
    }
    checkProtocol(request);
  });

  async function identify(request: FastifyRequest, reply: FastifyReply, token: string): Promise<Owner> {
    const address = request.socket.remoteAddress ?? '';
    const wait = book.wait(address, token, Date.now());
    const owner = await (wait > 0 ? takeDoubtful(() => ownerOf(token)) : ownerOf(token));
    if (owner === null) {
      if (wait > 0) throw tooManyFailures(reply, wait);
      book.failed(address, token, Date.now());
      reply.header('www-authenticate', 'Bearer realm="muster-ingest", error="invalid_token"');
      throw musterError('unauthenticated', 'The token is of no run, or its run has ended');
    }
    book.accepted(token);
    return owner;
  }

  async function ownerOf(token: string): Promise<Owner | null> {
    const at = { spoolSeconds, now: clock() };
    const runId = await runOfToken(db, token, at);
    if (runId !== null) return { kind: 'run', runId };
    const sessionId = await sessionOfJobToken(db, token, at);
    return sessionId === null ? null : { kind: 'job', sessionId };
  }
}

function ownsRun(owner: Owner, runId: string): boolean {
  return owner.kind === 'run' ? owner.runId === runId : owner.sessionId === sessionOfRun(runId);
}

/** Refuses a pod that speaks a version which is not known here: an image that is too new, or too old. */
function checkProtocol({ headers }: FastifyRequest): void {
  const named = headers[RUNNER_PROTOCOL_HEADER] ?? RUNNER_PROTOCOLS[0];
  if ((RUNNER_PROTOCOLS as readonly string[]).includes(String(named))) return;
  const known = RUNNER_PROTOCOLS.join(' and ');
  throw musterError(
    'runner_protocol_unsupported',
    `The runner speaks version ${String(named).slice(0, 20)}, known are ${known}`,
  );
}
