import { z } from 'zod';
import { createToken } from '../../../control/access/create-token.ts';
import { getToken, pageOfTokens } from '../../../control/access/read-tokens.ts';
import { revokeToken } from '../../../control/access/revoke-token.ts';
import {
  TokenCreatedSchema,
  TokenCreateSchema,
  TokenListQuerySchema,
  TokenSchema,
} from '../../../domain/access/schema.ts';
import { musterError } from '../../../domain/errors.ts';
import { acting } from '../../acting.ts';
import { NextSchema, NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

const params = z.object({ token: z.string().describe('Id or name of the token.') });
const tags = ['tokens'];

/** Tokens of this API: made once, never shown again, revoked at once. */
export async function tokenRoutes(app: ApiServer, deps: ApiShared): Promise<void> {
  app.get(
    '/tokens',
    {
      schema: {
        tags,
        summary: 'List the tokens that are not revoked, by name',
        querystring: TokenListQuerySchema,
        response: { 200: z.object({ tokens: z.array(TokenSchema), next: NextSchema }) },
      },
      config: { access: 'admin', class: 'list' },
    },
    async ({ query: { limit, after_id } }) => {
      const { tokens, more } = await pageOfTokens(deps, after_id, limit);
      return pageAnswer('tokens', tokens, more, ({ name }) => ({ limit, after_id: name }));
    },
  );

  app.post(
    '/tokens',
    {
      schema: {
        tags,
        summary: 'Make a token; the answer is the only place where it is shown',
        body: TokenCreateSchema.meta({
          examples: {
            reporter: { role: 'node', component: 'x1' },
            week: { role: 'operator', name: 'ci', expires_in: 604800 },
          },
        }),
        response: { 201: TokenCreatedSchema },
      },
      config: { access: 'admin', class: 'quick', refuses: ['token_exists'] },
    },
    async (request, reply) => {
      if (deps.access.mode === 'none') {
        throw musterError('forbidden', 'Nobody is known here (MUSTER_AUTH=none): set MUSTER_AUTH=token to make tokens');
      }
      const created = await createToken(deps, acting(request), request.body);
      const { id, name, role, component, expires_at } = created;
      request.log.info({ token: { id, name, role, component, expires_at }, actor: request.actor }, 'token created');
      return reply.code(201).header('cache-control', 'no-store').send(created);
    },
  );

  app.get(
    '/tokens/:token',
    {
      schema: { tags, summary: 'Read a token by id or name', params, response: { 200: TokenSchema } },
      config: { access: 'admin', class: 'quick', refuses: ['token_not_found'] },
    },
    ({ params }) => getToken(deps, params.token),
  );

  app.delete(
    '/tokens/:token',
    {
      schema: { tags, summary: 'Revoke a token by id or name, at once', params, response: { 204: NoContentSchema } },
      config: { access: 'admin', class: 'quick', refuses: ['token_not_found'] },
    },
    async (request, reply) => {
      const { id, name, role } = await revokeToken(deps, request.params.token);
      request.log.info({ token: { id, name, role }, actor: request.actor }, 'token revoked');
      return reply.code(204).send();
    },
  );
}
