import type { ApiLane } from '../../shared/api-shared.ts';
import { serviceApi } from './dependencies.ts';
import { dryRunRoutes } from './dry-run-routes.ts';
import { healthRoutes } from './health-routes.ts';
import { metrics } from './metrics-routes.ts';
import { probes } from './probe-routes.ts';
import { statusRoutes } from './status-routes.ts';
import { streamRoutes } from './stream-routes.ts';
import { temporalUi } from './temporal-ui-routes.ts';
import { versionRoutes } from './version-routes.ts';

/** Status, probes, versions, metrics, and Temporal's web UI. */
export const service: ApiLane = (shared, { again, topics }) => {
  const deps = serviceApi(shared);
  return {
    tags: { service: 'Versions, health and status.' },
    v3: async (app) => {
      await versionRoutes(app);
      await healthRoutes(app, deps);
    },
    muster: {
      status: (app) => statusRoutes(app, deps),
      'dry run': (app) => dryRunRoutes(app, { shared, again }),
      stream: (app) => streamRoutes(app, deps, topics),
    },
    root: (app) => {
      metrics(app, deps);
      probes(app, deps);
      app.register(temporalUi, deps);
    },
  };
};
