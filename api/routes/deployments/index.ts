import type { ApiLane } from '../../shared/api-shared.ts';
import { clusterRoutes } from './cluster-routes.ts';
import { deploymentApi } from './dependencies.ts';
import { labelRoutes } from './label-routes.ts';
import { providerRoutes } from './provider-routes.ts';
import { shortRoutes } from './short-routes.ts';

/** Applications on member clusters. */
export const deployments: ApiLane = (shared) => {
  const deps = deploymentApi(shared);
  return {
    placement: async (app) => {
      await providerRoutes(app, deps);
      await clusterRoutes(app, deps);
      await labelRoutes(app, deps);
    },
    muster: { clusters: (app) => shortRoutes(app, deps) },
    tags: { clusters: 'Member clusters: Kubernetes clusters that applications are deployed to.' },
  };
};
