import { pausePhases, resumePhases } from '../../../control/deployments/pause-phases.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { appRoutes } from './app-routes.ts';
import { cloudRoutes } from './cloud-routes.ts';
import { clusterRoutes } from './cluster-routes.ts';
import { deploymentApi } from './dependencies.ts';
import { deploymentEventRoutes } from './deployment-event-routes.ts';
import { deploymentRoutes } from './deployment-routes.ts';
import { deploymentTopics } from './deployment-topics.ts';
import { groupRoutes } from './group-routes.ts';
import { kvPairRoutes } from './kv-pair-routes.ts';
import { labelRoutes } from './label-routes.ts';
import { networkRoutes } from './network-routes.ts';
import { notBuiltDeploymentRoutes, notBuiltRoutes } from './not-built.ts';
import { projectRoutes } from './project-routes.ts';
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
      await kvPairRoutes(app, deps);
      await networkRoutes(app, deps);
      await projectRoutes(app, deps);
      await appRoutes(app, deps);
      await cloudRoutes(app, deps);
      await groupRoutes(app, deps);
      await notBuiltRoutes(app);
    },
    muster: {
      clusters: (app) => shortRoutes(app, deps),
      deployments: async (app) => {
        await deploymentRoutes(app, deps);
        await deploymentEventRoutes(app, deps);
        await notBuiltDeploymentRoutes(app);
      },
    },
    topics: deploymentTopics(deps),
    stop: {
      pause: (_, stop) => pausePhases(deps.db, stop),
      go: (_, moments) => resumePhases(deps, moments),
    },
    tags: {
      clusters: 'Member clusters: Kubernetes clusters that applications are deployed to.',
      projects: 'Projects, composite apps with their apps and profiles, and registered controllers.',
      'logical clouds': 'Logical clouds: sets of member clusters that deployments go to.',
      deployments: 'Deployments (deployment intent groups): which apps go where, and their life cycle.',
    },
  };
};
