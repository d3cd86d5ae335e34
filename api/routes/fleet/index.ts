import { countAll, countFleet } from '../../../control/fleet/count-fleet.ts';
import { listAttention } from '../../../control/fleet/list-attention.ts';
import { readThroughput } from '../../../control/fleet/read-grid.ts';
import { countsKeptFor } from '../../../domain/fleet/kept-counts.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { lastAnswer, sharedAnswer } from '../../shared/shared-answer.ts';
import { configurationRoutes } from './configuration-routes.ts';
import { explainRoutes } from './explain-routes.ts';
import { fleetRoutes } from './fleet-routes.ts';
import { fleetTopics, type SharedFleet } from './fleet-topics.ts';
import { gridRoutes } from './grid-routes.ts';
import { stopRoutes, warnWhileStopped } from './stop-routes.ts';

/** So long all callers get the same counts, the same list of what needs attention, and the same counts by the hour, ms. */
const [SHARED_MS, ATTENTION_SHARED_MS, HOURS_SHARED_MS] = [1_000, 3_000, 30_000];

/** So old the number of what needs attention may be beside the counts, ms: an older one is waited for. */
const ATTENTION_MAX_AGE_MS = 10_000;

/** What concerns all lanes at once. */
export const fleet: ApiLane = (shared, { stops }) => {
  const { dataDir } = shared.settings;
  const attention = sharedAnswer(
    () => listAttention({ ...shared, dataDir, readWorkers: shared.temporal.workers }),
    ATTENTION_SHARED_MS,
  );
  const countAttention = lastAnswer(async () => {
    const { items, more } = await attention();
    return items.length + more;
  }, ATTENTION_MAX_AGE_MS);
  const counts = sharedAnswer(
    () => countAll(shared),
    ({ total }) => countsKeptFor(total, SHARED_MS),
  );
  const answers: SharedFleet = {
    fleet: sharedAnswer(() => countFleet({ ...shared, counts, countAttention }), SHARED_MS),
    attention,
    throughput: sharedAnswer(() => readThroughput(shared), HOURS_SHARED_MS),
  };
  return {
    tags: { fleet: 'All lanes at once.' },
    root: (app) => warnWhileStopped(app, shared),
    muster: {
      stop: (app) => stopRoutes(app, { ...shared, stops }),
      fleet: (app) => fleetRoutes(app, answers),
      grid: (app) => gridRoutes(app, shared, answers),
      explain: (app) => explainRoutes(app, shared),
      'versions of configurations': (app) => configurationRoutes(app, shared),
    },
    topics: fleetTopics(shared, answers),
  };
};
