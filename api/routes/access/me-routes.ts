import type { FastifyRequest } from 'fastify';
import { type Me, MeSchema } from '../../../domain/access/schema.ts';
import { wireTime } from '../../../domain/text/times.ts';
import type { ApiServer } from '../../server/api-server.ts';

/** Who asks, so that a client offers only what its user may do. */
export async function meRoutes(app: ApiServer, lanes: readonly string[]): Promise<void> {
  app.get(
    '/me',
    {
      schema: {
        tags: ['sign-in'],
        summary: 'Who you are here, and what this installation has',
        response: { 200: MeSchema },
      },
      config: { access: 'reader', class: 'quick' },
    },
    async (request) => ({ ...whoAsks(request), lanes: [...lanes] }),
  );
}

/** Where access is not checked everybody may do everything. */
function whoAsks({ caller, actor, headers }: FastifyRequest): Omit<Me, 'lanes'> {
  if (caller === null)
    return { name: actor, kind: actor === null ? 'none' : 'header', role: 'admin', expires_at: null };
  const kind = headers.authorization === undefined ? 'sign-in' : caller.actor.startsWith('oidc/') ? 'oidc' : 'token';
  return {
    name: caller.actor,
    kind,
    role: caller.role,
    expires_at: caller.expiresAt ? wireTime(caller.expiresAt) : null,
  };
}
