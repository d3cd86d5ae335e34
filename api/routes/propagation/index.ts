import { pausePlans, unpausePlans } from '../../../control/propagation/stop-plans.ts';
import { listActionsOn } from '../../../store/propagation/action-entries.ts';
import { findRepositoryOfSource } from '../../../store/propagation/repository-syncs.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { attemptRoutes } from './attempt-routes.ts';
import { changeRoutes } from './change-routes.ts';
import { connectionRoutes } from './connection-routes.ts';
import { propagationApi } from './dependencies.ts';
import { eventRoutes } from './event-routes.ts';
import { laterRoutes } from './later-routes.ts';
import { planCommandRoutes } from './plan-command-routes.ts';
import { planRoutes } from './plan-routes.ts';
import { planTopics } from './plan-topics.ts';
import { processRoutes } from './process-routes.ts';
import { repositoryRoutes } from './repository-routes.ts';
import { resourceRoutes } from './resource-routes.ts';
import { simulateRoutes } from './simulate-routes.ts';

const ROUTES = [
  repositoryRoutes,
  resourceRoutes,
  connectionRoutes,
  eventRoutes,
  changeRoutes,
  processRoutes,
  simulateRoutes,
  planRoutes,
  planCommandRoutes,
  attemptRoutes,
  laterRoutes,
] as const;

export const propagation: ApiLane = (shared) => {
  const deps = propagationApi(shared);
  return {
    timeline: listActionsOn,
    sourceUser: async (trx, source) => {
      const repository = await findRepositoryOfSource(trx, source);
      return repository === null ? null : `the repository of definitions ${repository}`;
    },
    topics: planTopics(shared),
    stop: {
      pause: (by, stop) => pausePlans(deps, by, stop),
      go: (by, moments) => unpausePlans(deps, by, moments),
    },
    tags: {
      changes: 'What differs from what was committed of resources, and what was committed.',
      connections: 'Values that one resource hands on to another.',
      events: 'What the end of one action of a resource means for another.',
      attempts: 'What ran for a node of a plan.',
      plans: 'Which actions follow a change, and in which order.',
      repositories: 'Repositories of definitions, of which resources are made.',
      resources: 'Things on machines, made of definitions.',
    },
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
