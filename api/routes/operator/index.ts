import { cancelReconciles, pauseOperators, resumeOperators } from '../../../control/operator/stop-operators.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { operatorRoutes } from './operator-routes.ts';
import { operatorTopics } from './operator-topics.ts';
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
  topics: operatorTopics(shared),
  stop: {
    pause: (by, stop) => pauseOperators(shared.db, by, stop),
    cancel: (by, stop) => cancelReconciles(shared.db, by, stop),
    go: (by, moments) => resumeOperators(shared, by, moments),
  },
  tags: { operator: 'Operators: custom resources that playbooks and roles reconcile.' },
});
