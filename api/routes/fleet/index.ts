import type { ApiLane } from '../../shared/api-shared.ts';
import { configurationRoutes } from './configuration-routes.ts';
import { explainRoutes } from './explain-routes.ts';
import { fleetRoutes } from './fleet-routes.ts';
import { gridRoutes } from './grid-routes.ts';
import { stopRoutes, warnWhileStopped } from './stop-routes.ts';

/** What concerns all lanes at once. */
export const fleet: ApiLane = (shared, { stops }) => ({
  tags: { fleet: 'All lanes at once.' },
  root: (app) => warnWhileStopped(app, shared),
  muster: {
    stop: (app) => stopRoutes(app, { ...shared, stops }),
    fleet: (app) => fleetRoutes(app, shared),
    grid: (app) => gridRoutes(app, shared),
    explain: (app) => explainRoutes(app, shared),
    'versions of configurations': (app) => configurationRoutes(app, shared),
  },
});
