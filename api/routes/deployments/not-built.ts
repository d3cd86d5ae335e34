import { DEPLOYMENT_MEANINGS } from '../../../domain/deployments/errors.ts';
import { notSupported } from '../../../domain/deployments/not-supported.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { GROUP } from './record-paths.ts';

/** What is not built has another status on this surface than elsewhere. */
export const NOT_BUILT = { code: 'not_supported', status: DEPLOYMENT_MEANINGS.not_supported.status } as const;

/** Paths that are described and not built, each with what it is. */
const PATHS = ['skip', 'update', 'rollback', 'resume', 'migrate'].map((part) => ({
  ...{ path: `${GROUP}/${part}`, what: `${part} of a deployment` },
}));

const tags = ['deployments'];

/** Refuses what is described and not built: clients of EMCO hear that it is missing here, and not that the path is wrong. */
export async function notBuiltRoutes(app: ApiServer): Promise<void> {
  for (const { path, what } of PATHS) {
    const route = {
      url: path,
      schema: { hide: true, tags, summary: `Not built: ${what}` },
      handler: async () => {
        throw notSupported(what);
      },
    };
    app.route({ ...route, method: 'GET', config: { access: 'reader', class: 'quick', refuses: [NOT_BUILT] } });
    app.route({
      ...route,
      method: ['POST', 'PUT', 'DELETE'],
      config: { access: 'operator', class: 'quick', refuses: [NOT_BUILT] },
    });
  }
}
