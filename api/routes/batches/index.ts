import { pauseBatches, resumeBatches } from '../../../control/batches/stop-batches.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { batchRoutes } from './batch-routes.ts';
import { batchApi } from './dependencies.ts';
import { rolloutRoutes } from './rollout-routes.ts';

/** Batches and rollouts. */
export const batches: ApiLane = (shared) => {
  const deps = batchApi(shared);
  return {
    muster: {
      batches: (app) => batchRoutes(app, deps),
      rollouts: (app) => rolloutRoutes(app, deps),
    },
    stop: {
      pause: (by, stop) => pauseBatches(deps.db, by, stop),
      go: (by, moments) => resumeBatches(deps, by, moments),
    },
  };
};
