import { z } from 'zod';
import { readTimeline } from '../../../control/components/read-timeline.ts';
import { TimelineEntrySchema, TimelineQuerySchema } from '../../../domain/audit/schema.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { Offered } from '../../shared/api-shared.ts';
import type { ComponentApi } from './dependencies.ts';

/** What happened to a component. */
export async function timelineRoutes(app: ApiServer, deps: ComponentApi & Pick<Offered, 'timeline'>): Promise<void> {
  app.get(
    '/components/:component_id/timeline',
    {
      schema: {
        tags: ['audit'],
        summary:
          'List what happened to a component, newest first: changes, layers of sessions, batches, checks, actions of plans',
        params: z.object({ component_id: z.string().describe('Id of the component.') }),
        querystring: TimelineQuerySchema,
        response: { 200: z.object({ entries: z.array(TimelineEntrySchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['component_not_found'] },
    },
    async ({ params, query }) => {
      const { entries, after } = await readTimeline(deps.db, params.component_id, query, deps.timeline);
      return { entries, next: after === null ? null : { ...query, after_id: after } };
    },
  );
}
