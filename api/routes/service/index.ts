import type { ApiLane } from '../../shared/api-shared.ts';
import { serviceApi } from './dependencies.ts';
import { dryRunRoutes } from './dry-run-routes.ts';
import { healthRoutes } from './health-routes.ts';
import { metrics } from './metrics-routes.ts';
import { probes } from './probe-routes.ts';
import { statusReader, statusRoutes } from './status-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { systemReader, systemRoutes, systemTopics } from './system-routes.ts';
import { temporalUi } from './temporal-ui-routes.ts';
import { versionRoutes } from './version-routes.ts';

/** Status, probes, versions, metrics, and Temporal's web UI. */
export const service: ApiLane = (shared, { again, topics }) => {
  const deps = serviceApi(shared);
  const readStatus = statusReader(deps);
  const readSystem = systemReader(deps, readStatus);
  return {
    tags: { service: 'Versions, health and status.' },
    v3: async (app) => {
      await versionRoutes(app);
      await healthRoutes(app, deps);
    },
    muster: {
      status: (app) => statusRoutes(app, readStatus),
      system: (app) => systemRoutes(app, readSystem),
      'dry run': (app) => dryRunRoutes(app, { shared, again }),
      stream: (app) => streamRoutes(app, deps, topics),
    },
    topics: systemTopics(deps, readSystem),
    root: (app) => {
      metrics(app, deps);
      probes(app, deps);
      app.register(temporalUi, deps);
    },
  };
};
