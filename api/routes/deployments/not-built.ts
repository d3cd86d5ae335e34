import { z } from 'zod';
import { DEPLOYMENT_MEANINGS } from '../../../domain/deployments/errors.ts';
import { notSupported } from '../../../domain/deployments/not-supported.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { GROUP } from './record-paths.ts';

/** What is not built has another status on this surface than elsewhere. */
export const NOT_BUILT = { code: 'not_supported', status: DEPLOYMENT_MEANINGS.not_supported.status } as const;

/** Parts that are described and not built. */
const PARTS = ['skip', 'update', 'rollback', 'resume'] as const;

const tags = ['deployments'];

/** The parameter of a part that is not built: a call that ignored it would do what was not asked for. */
export const REFUSED = z.boolean().optional().describe('true is not built, and refused');

/**
 * Refuses a call that asks for what is not built.
 * Throws `not_supported` with the first of the parameters that are true.
 */
export function refuseAsked(call: string, query: object): void {
  const asked = Object.entries(query).find(([, value]) => value === true);
  if (asked !== undefined) throw notSupported(`${call}?${asked[0]}=true`);
}

/** Refuses what is described and not built: clients of EMCO hear that it is missing here, and not that the path is wrong. */
export async function notBuiltRoutes(app: ApiServer): Promise<void> {
  for (const part of [...PARTS, 'migrate']) {
    const route = { url: `${GROUP}/${part}`, ...refusalOf(part) };
    app.route({ ...route, method: 'GET', config: { access: 'reader', class: 'quick', refuses: [NOT_BUILT] } });
    app.route({
      ...route,
      method: ['POST', 'PUT', 'DELETE'],
      config: { access: 'operator', class: 'quick', refuses: [NOT_BUILT] },
    });
  }
}

/** The same on Muster's own surface, by the calls that it has. */
export async function notBuiltDeploymentRoutes(app: ApiServer): Promise<void> {
  for (const part of PARTS) {
    app.route({
      method: 'POST',
      url: `/deployments/:deployment/${part}`,
      ...refusalOf(part),
      config: { access: 'operator', class: 'quick', refuses: [NOT_BUILT] },
    });
  }
}

function refusalOf(part: string) {
  const what = `${part} of a deployment`;
  return {
    schema: { hide: true, tags, summary: `Not built: ${what}` },
    handler: async () => {
      throw notSupported(what);
    },
  };
}
