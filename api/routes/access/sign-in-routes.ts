import { signIn, signOut } from '../../../control/access/sign-in.ts';
import {
  SignedInSchema,
  SignInBodySchema,
  type SignInMethods,
  SignInMethodsSchema,
} from '../../../domain/access/schema.ts';
import { SIGN_IN_LIFE_MS, setCookie } from '../../../domain/access/sign-in.ts';
import { musterError } from '../../../domain/errors.ts';
import { wireTime } from '../../../domain/text/times.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { signInCookie } from '../../server/sign-in-cookie.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

const tags = ['sign-in'];

/** Sign-in of browsers: a token is exchanged for a cookie that no script can read. */
export async function signInRoutes(app: ApiServer, deps: ApiShared): Promise<void> {
  const cookie = signInCookie(deps.db, deps.settings.publicUrl);
  const { mode } = deps.access;

  app.get(
    '/sign-in',
    {
      schema: { tags, summary: 'How a user may sign in', response: { 200: SignInMethodsSchema } },
      config: { access: 'public', class: 'free' },
    },
    async (): Promise<SignInMethods> => ({ mode, methods: mode === 'token' ? ['token'] : [] }),
  );

  app.post(
    '/sign-in',
    {
      schema: {
        tags,
        summary: 'Sign a browser in with a token; the answer sets a cookie',
        body: SignInBodySchema.meta({ examples: { token: { token: 'muster_...' } } }),
        response: { 200: SignedInSchema },
      },
      config: { access: 'public', class: 'quick', refuses: ['unauthenticated', 'forbidden', 'too_many_failures'] },
    },
    async (request, reply) => {
      if (app.judgeToken === null) {
        throw musterError('forbidden', 'A sign-in is not needed here (MUSTER_AUTH=none)');
      }
      const token = request.body.token.trim();
      const caller = await app.judgeToken(request, reply, { kind: 'bearer', token });
      const { secret, expiresAt } = await signIn(deps, token, caller);
      request.log.info({ actor: caller.actor }, 'signed in');
      reply.header('set-cookie', setCookie(await cookie.rule(), secret, SIGN_IN_LIFE_MS / 1000));
      return { name: caller.actor, role: caller.role, expires_at: wireTime(expiresAt) };
    },
  );

  app.post(
    '/sign-out',
    {
      schema: { tags, summary: 'End the sign-in of this browser', response: { 204: NoContentSchema } },
      config: { access: 'public', class: 'quick' },
    },
    async (request, reply) => {
      const secret = await cookie.read(request);
      if (secret !== null) {
        const actor = await signOut(deps, secret);
        if (actor !== null) request.log.info({ actor }, 'signed out');
        reply.header('set-cookie', setCookie(await cookie.rule(), '', 0));
      }
      return reply.code(204).send();
    },
  );
}
