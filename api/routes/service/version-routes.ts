import { z } from 'zod';
import type { ApiServer } from '../../server/api-server.ts';

/** The level of CFS that this API is compatible with, not Muster's own version (cfs-api 4). */
export const CFS_VERSION = { major: '1', minor: '31', patch: '1' };

const VersionSchema = z.object({ major: z.string(), minor: z.string(), patch: z.string() });

/** The version record, at all four paths of CFS. */
export async function versionRoutes(app: ApiServer): Promise<void> {
  for (const path of ['/', '/versions', '/v2', '/v3']) {
    // The root of a prefix waits with the lists when there is too much to do.
    const kind = path === '/' && app.prefix !== '' ? 'list' : 'free';
    app.get(
      path,
      {
        schema: { tags: ['service'], summary: 'Compatibility level', response: { 200: VersionSchema } },
        config: { access: 'public', class: kind },
      },
      async () => CFS_VERSION,
    );
  }
}
