import type { ApiLane } from '../../shared/api-shared.ts';
import { operatorRoutes } from './operator-routes.ts';
import { reconcileRoutes } from './reconcile-routes.ts';
import { resourceRoutes } from './resource-routes.ts';

/** Custom resources that playbooks and roles reconcile. Nothing here asks an operator's own Temporal: its processes find the rows. */
export const operator: ApiLane = (shared) => ({
  muster: {
    operator: async (app) => {
      await operatorRoutes(app, shared);
      await resourceRoutes(app, shared);
      await reconcileRoutes(app, shared);
    },
  },
  tags: { operator: 'Operators: custom resources that playbooks and roles reconcile.' },
});
