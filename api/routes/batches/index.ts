import { pauseBatches, resumeBatches } from '../../../control/batches/stop-batches.ts';
import { readRolloutsRevision } from '../../../store/batches/revisions.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { batchRoutes } from './batch-routes.ts';
import { batchApi } from './dependencies.ts';
import { rolloutRoutes } from './rollout-routes.ts';

/** From one look at the topic to the next at least, ms. */
const GAP_MS = 1_000;

/** Batches and rollouts. */
export const batches: ApiLane = (shared) => {
  const deps = batchApi(shared);
  return {
    muster: {
      batches: (app) => batchRoutes(app, deps),
      rollouts: (app) => rolloutRoutes(app, deps),
    },
    topics: {
      rollouts: (key) =>
        key === null
          ? { join: () => shared.streams.joinAny(), read: () => readRolloutsRevision(shared.db), gapMs: GAP_MS }
          : null,
    },
    stop: {
      pause: (by, stop) => pauseBatches(deps.db, by, stop),
      go: (by, moments) => resumeBatches(deps, by, moments),
    },
  };
};
