import type { ApiLane } from '../../shared/api-shared.ts';
import { runApi } from './dependencies.ts';
import { runRoutes } from './run-routes.ts';

export const runs: ApiLane = (shared) => {
  const deps = runApi(shared);
  return { muster: { runs: (app) => runRoutes(app, deps) } };
};
