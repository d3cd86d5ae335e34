import type { ApiLane } from '../../shared/api-shared.ts';
import { secretApi } from './dependencies.ts';
import { secretRoutes } from './secret-routes.ts';

export const secrets: ApiLane = (shared) => ({
  tags: { secrets: 'Values that are set and never shown.' },
  muster: { secrets: (app) => secretRoutes(app, secretApi(shared)) },
});
