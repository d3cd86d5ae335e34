import { resolveLayers } from '../../../control/configurations/resolve-layers.ts';
import { ResolveAnswerSchema, ResolveBodySchema } from '../../../domain/configurations/resolve-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ConfigurationApi } from './dependencies.ts';

const EXAMPLE = { clone_url: 'https://git.example.com/site.git', playbook: 'site.yml', branch: 'main' };

/** Branches as commits, with nothing stored. */
export async function resolveRoutes(app: ApiServer, deps: ConfigurationApi): Promise<void> {
  app.post(
    '/configurations/resolve',
    {
      schema: {
        tags: ['configurations'],
        summary: 'The commits of the branches of layers; nothing is stored',
        body: ResolveBodySchema.meta({ examples: { branch: { layers: [EXAMPLE] } } }),
        response: { 200: ResolveAnswerSchema },
      },
      config: {
        // It asks remotes with the credentials of the site, as a write of the configuration does.
        access: 'operator',
        class: 'remote',
        refuses: ['secret_store_unavailable'],
        changesNothing: true,
      },
    },
    async ({ body }) => ({ layers: await resolveLayers(deps, body.layers) }),
  );
}
