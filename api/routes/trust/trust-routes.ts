import { z } from 'zod';
import { readAuthorityLines, readTrust } from '../../../control/trust/read-trust.ts';
import { TrustSchema } from '../../../domain/trust/trust-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared, ApiSite } from '../../shared/api-shared.ts';

const tags = ['trust'];

/** What hosts must know to let sessions in. The authority's key is public, and asked for by nodes that have no token yet. */
export async function trustRoutes(
  app: ApiServer,
  deps: Pick<ApiShared, 'db'> & Pick<ApiSite, 'secrets'>,
): Promise<void> {
  app.get(
    '/trust',
    {
      schema: { tags, summary: 'Read who signs for sessions, and their certificate', response: { 200: TrustSchema } },
      config: { access: 'reader', class: 'list' },
    },
    () => readTrust(deps),
  );

  app.get(
    '/trust/ca',
    {
      schema: {
        tags,
        summary: 'Public keys of the authorities that hosts are to trust, a line each, the one that signs now first',
        produces: ['text/plain'],
        response: { 200: z.string() },
      },
      config: { access: 'public', class: 'list', refuses: ['trust_not_ready'] },
    },
    async (_request, reply) => {
      const lines = await readAuthorityLines(deps);
      return reply.type('text/plain; charset=utf-8').send(lines);
    },
  );
}
