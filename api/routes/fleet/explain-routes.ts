import { z } from 'zod';
import { explainOneComponent } from '../../../control/fleet/explain-component.ts';
import { ExplanationSchema } from '../../../domain/explain-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

/** Why records stand as they do. */
export async function explainRoutes(app: ApiServer, deps: Pick<ApiShared, 'db' | 'clock'>): Promise<void> {
  app.get(
    '/components/:component_id/explain',
    {
      schema: {
        tags: ['components'],
        summary: 'Why a component stands as it does, and what it waits for',
        params: z.object({ component_id: z.string().describe('Id of the component.') }),
        response: { 200: ExplanationSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['component_not_found'] },
    },
    ({ params }) => explainOneComponent(deps, params.component_id),
  );
}
