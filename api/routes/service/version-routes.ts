import { z } from 'zod';
import type { ApiServer } from '../../server/api-server.ts';

/** The level of CFS that this API is compatible with, not Muster's own version (cfs-api 4). */
export const CFS_VERSION = { major: '1', minor: '31', patch: '1' };

const VersionSchema = z.object({ major: z.string(), minor: z.string(), patch: z.string() });

const ToWebUiSchema = z.undefined().describe('A browser, which accepts HTML, is sent to the web UI.');

/** The version record, at all four paths of CFS. */
export async function versionRoutes(app: ApiServer): Promise<void> {
  for (const path of ['/', '/versions', '/v2', '/v3']) {
    // The root of a prefix waits with the lists when there is too much to do.
    const kind = path === '/' && app.prefix !== '' ? 'list' : 'free';
    const sendsBrowsers = path === '/' && app.prefix === '';
    app.get(
      path,
      {
        schema: {
          tags: ['service'],
          summary: 'Compatibility level',
          response: { 200: VersionSchema, ...(sendsBrowsers ? { 303: ToWebUiSchema } : {}) },
        },
        config: { access: 'public', class: kind },
      },
      async (request, reply) => {
        if (!sendsBrowsers) return CFS_VERSION;
        reply.header('vary', 'Accept');
        return namesHtml(request.headers.accept) ? reply.redirect('ui/', 303) : CFS_VERSION;
      },
    );
  }
}

/** Whether a header `Accept` names HTML itself, as those of browsers do; a program that takes anything gets the record. */
function namesHtml(accept: string | undefined): boolean {
  return (accept ?? '')
    .split(',')
    .some((range) => /^\s*text\/html\s*(;|$)/i.test(range) && !/;\s*q=0(\.0*)?\s*(;|$)/i.test(range));
}
