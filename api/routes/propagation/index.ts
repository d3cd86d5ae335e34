import type { ApiLane } from '../../shared/api-shared.ts';
import { changeRoutes } from './change-routes.ts';
import { connectionRoutes } from './connection-routes.ts';
import { propagationApi } from './dependencies.ts';
import { eventRoutes } from './event-routes.ts';
import { laterRoutes } from './later-routes.ts';
import { repositoryRoutes } from './repository-routes.ts';
import { resourceRoutes } from './resource-routes.ts';
import { simulateRoutes } from './simulate-routes.ts';

const ROUTES = [
  repositoryRoutes,
  resourceRoutes,
  connectionRoutes,
  eventRoutes,
  changeRoutes,
  simulateRoutes,
  laterRoutes,
] as const;

export const propagation: ApiLane = (shared) => {
  const deps = propagationApi(shared);
  return {
    muster: {
      propagation: async (app) => {
        const below = async (scope: typeof app) => {
          for (const declare of ROUTES) await declare(scope, deps);
        };
        await app.register(below, { prefix: '/propagation' });
      },
    },
  };
};
