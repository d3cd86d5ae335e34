import { z } from 'zod';
import { resetErrors } from '../../../control/components/reset-errors.ts';
import { ResetErrorsSchema } from '../../../domain/components/schema.ts';
import { acting } from '../../acting.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ComponentApi } from './dependencies.ts';

/** What makes components be tried again. */
export async function componentResetRoutes(app: ApiServer, deps: ComponentApi): Promise<void> {
  app.post(
    '/components/reset-errors',
    {
      schema: {
        tags: ['components'],
        summary: 'Forget the errors of components, so that those whose tries are used up are tried again',
        description: 'All or none; what the components reached stays as it is.',
        body: ResetErrorsSchema.meta({ examples: { two: { ids: ['x1', 'x2'] } } }),
        response: { 200: z.object({ component_ids: z.array(z.string()) }) },
      },
      config: { access: 'operator', class: 'quick', refuses: ['component_not_found'] },
    },
    async (request) => {
      const components = await resetErrors(deps, acting(request), request.body.ids);
      return { component_ids: components.map(({ id }) => id) };
    },
  );
}
