import { pauseBatches, resumeBatches } from '../../../control/batches/stop-batches.ts';
import { readBatchesRevision, readRolloutsRevision } from '../../../store/batches/revisions.ts';
import { topicOfList } from '../../server/streaming/topic-watches.ts';
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
    topics: {
      batches: topicOfList(shared.streams, () => readBatchesRevision(shared.db)),
      rollouts: topicOfList(shared.streams, () => readRolloutsRevision(shared.db)),
    },
    stop: {
      pause: (by, stop) => pauseBatches(deps.db, by, stop),
      go: (by, moments) => resumeBatches(deps, by, moments),
    },
  };
};
