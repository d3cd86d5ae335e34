import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticate } from '../../../control/access/authenticate.ts';
import { authenticateSignIn } from '../../../control/access/authenticate-sign-in.ts';
import { hashToken } from '../../../control/access/token-secret.ts';
import { bearerOf, type Credential } from '../../../domain/access/bearer.ts';
import { type Caller, membersDeniedToNode, refusal } from '../../../domain/access/roles.ts';
import { tokenKindOf } from '../../../domain/access/token-format.ts';
import { isMusterError, musterError } from '../../../domain/errors.ts';
import type { ApiShared } from '../../shared/api-shared.ts';
import { DOUBTFUL_AT_ONCE, openFailureBook, tooManyFailures } from '../access/failure-book.ts';
import { watchOpenStreams } from '../access/open-streams.ts';
import { createTurns } from '../admission/turns.ts';
import type { ApiServer } from '../api-server.ts';
import { accessOf } from '../route-config.ts';
import { signInCookie } from '../sign-in-cookie.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks and with which role; null where access is not checked, and on public routes. */
    caller: Caller | null;
  }
  interface FastifyInstance {
    /**
     * Returns who a token of this API speaks for, with the limits on wrong ones that every request has. Null where access is not checked.
     * Throws `unauthenticated`, `too_many_failures`.
     */
    judgeToken: ((request: FastifyRequest, reply: FastifyReply, token: Credential) => Promise<Caller>) | null;
  }
}

type AccessDependencies = Pick<ApiShared, 'access' | 'db' | 'clock' | 'log'> & { settings: { publicUrl: string } };

/**
 * Lets in whom the route lets in, before anything of path, query or body is looked at. Without a token even an unknown path
 * is 401, so that an answer does not tell which paths exist.
 */
export function access(app: ApiServer, deps: AccessDependencies): void {
  app.decorateRequest('caller', null);
  if (deps.access.mode === 'token') {
    checkTokens(app, deps, deps.access);
    return;
  }
  app.decorate('judgeToken', null);
  if (deps.access.actorHeader !== undefined) trustHeader(app, deps.access.actorHeader);
}

/** After the body is read: of its own component a node may write what it reports, and nothing else. */
export function nodeReports(app: ApiServer): void {
  app.addHook('preValidation', async (request) => {
    if (request.caller?.role !== 'node') return;
    const denied = membersDeniedToNode(request.body).map((member) => `'${member.slice(0, 100)}'`);
    if (denied.length > 0) throw musterError('forbidden', `A node may not write ${denied.slice(0, 10).join(', ')}`);
  });
}

/** Longest actor that is stored of a header, in characters. */
const MAX_ACTOR = 200;

/** The gateway in front has checked who asks and says so; without the header nobody is known. */
function trustHeader(app: ApiServer, name: string): void {
  app.addHook('onRequest', async (request) => {
    const value = request.headers[name];
    if (typeof value === 'string' && value.trim() !== '') request.actor = value.trim().slice(0, MAX_ACTOR);
  });
}

function checkTokens(app: ApiServer, deps: AccessDependencies, { issuer, lookAgainMs }: TokenAccess): void {
  const { db, log } = deps;
  const clock = () => deps.clock();
  const onNoteFailed = (error: unknown) => log.warn({ err: error }, 'the last use of a token could not be noted');
  const callerOf = (token: string) => authenticate({ db, issuer, clock, onNoteFailed }, token);
  const callerOfSignIn = (secret: string) => authenticateSignIn({ db, clock, onNoteFailed }, secret);
  const cookie = signInCookie(db, deps.settings.publicUrl);
  const book = openFailureBook((token) => hashToken(token).toString('base64url'));
  const takeDoubtful = createTurns(DOUBTFUL_AT_ONCE);
  const streams = watchOpenStreams(async (credential) => {
    try {
      await (tokenKindOf(credential) === 'sign-in' ? callerOfSignIn(credential) : callerOf(credential));
      return true;
    } catch (error) {
      return !isMusterError(error) || (error.code !== 'unauthenticated' && error.code !== 'forbidden');
    }
  }, lookAgainMs);
  app.addHook('onClose', async () => streams.close());
  app.decorate('judgeToken', (request, reply, credential) =>
    judge(request, reply, credential, (token) => authenticate({ db, issuer: undefined, clock, onNoteFailed }, token)),
  );

  app.addHook('onRequest', async (request, reply) => {
    const parameters = Object.values(request.params as Record<string, string>);
    // An empty part of a path is no record of that name: there is nothing at such a path.
    const isNowhere = request.is404 || parameters.includes('');
    const needed = isNowhere ? undefined : accessOf(request.routeOptions.config);
    if (needed?.least === 'public') return;
    const token = await identify(request, reply);
    const { caller } = request;
    if (caller === null) return;
    streams.opened(token, reply.raw);
    const refused = needed === undefined ? null : refusal(needed, caller, parameters[0]);
    if (refused !== null) throw musterError('forbidden', refused);
  });

  /** Sets who asks, or throws; answers the token, or what the cookie of a sign-in holds. A bearer comes before a cookie. */
  async function identify(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const credential = bearerOf(request.headers.authorization);
    const secret = credential.kind === 'none' ? await cookie.read(request) : null;
    if (credential.kind === 'none' && secret === null) {
      reply.header('www-authenticate', 'Bearer realm="muster"');
      throw musterError('unauthenticated', 'This needs a token: send it as Authorization: Bearer TOKEN');
    }
    // An old cookie is no attempt to guess anything: it does not count.
    const caller = secret === null ? await judge(request, reply, credential, callerOf) : await callerOfSignIn(secret);
    request.caller = caller;
    request.actor = caller.actor;
    return secret ?? (credential.kind === 'bearer' ? credential.token : '');
  }

  /** Who a token speaks for; wrong ones count by address. */
  async function judge(
    request: FastifyRequest,
    reply: FastifyReply,
    credential: Credential,
    look: (token: string) => Promise<Caller>,
  ): Promise<Caller> {
    const address = request.socket.remoteAddress ?? '';
    const token = credential.kind === 'bearer' ? credential.token : null;
    const wait = book.wait(address, token, Date.now());
    try {
      if (credential.kind === 'unusable') throw musterError('unauthenticated', credential.reason);
      if (token === null) throw musterError('unauthenticated', 'There is no token');
      // Where many were wrong a good one is still let in; few are looked at at once, so that a flood leaves room for others.
      const caller = await (wait > 0 ? takeDoubtful(() => look(token)) : look(token));
      book.accepted(token);
      return caller;
    } catch (error) {
      if (isMusterError(error) && error.code === 'unauthenticated') {
        // One that comes while it is to wait makes the wait no longer, as when it was not looked at.
        if (wait > 0) throw tooManyFailures(reply, wait);
        book.failed(address, token, Date.now());
        reply.header('www-authenticate', 'Bearer realm="muster", error="invalid_token"');
      }
      throw error;
    }
  }
}

type TokenAccess = Extract<ApiShared['access'], { mode: 'token' }>;
