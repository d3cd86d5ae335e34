import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { readAuditSearch } from './audit/requests.ts';
import { readBatchSearch, readRolloutSearch } from './batches/search.ts';
import { readComponentListSearch } from './components/search.ts';
import { readConfigurationListSearch, readConfigurationSearch, readSourceSearch } from './configurations/search.ts';
import { readDeploymentListSearch, readDeploymentSearch } from './deployments/search.ts';
import { readFleetSearch } from './fleet/search.ts';
import { readImageSearch } from './images/search.ts';
import { readResourceListSearch, readResourceSearch } from './operator/search.ts';
import { readPlanListSearch, readPlanSearch } from './propagation/search.ts';
import { readDriftSearch, readScheduleSearch } from './schedules/search.ts';
import { readAccessSearch } from './secrets/search.ts';
import { readListSearch, readSessionSearch } from './sessions/search.ts';
import { UI_PATH } from './shared/api-call.ts';
import { onlyKnown } from './shared/search-values.ts';
import { lazyPage } from './shared/ui/lazy-page.tsx';
import { NoPage } from './shared/ui/no-page.tsx';
import { Shell } from './shell.tsx';
import { readWebhookSearch } from './webhooks/search.ts';

const root = createRootRoute({ component: Shell, notFoundComponent: NoPage });

/** Every page, each loaded when it is first opened. */
const pages = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    validateSearch: onlyKnown(readFleetSearch),
    component: lazyPage(() => import('./fleet/fleet-page.tsx'), 'FleetPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/components',
    validateSearch: onlyKnown(readComponentListSearch),
    component: lazyPage(() => import('./components/component-list.tsx'), 'ComponentListPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/components/$id',
    component: lazyPage(() => import('./components/component-page.tsx'), 'ComponentPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sessions',
    validateSearch: onlyKnown(readListSearch),
    component: lazyPage(() => import('./sessions/session-list.tsx'), 'SessionListPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sessions/$name',
    validateSearch: onlyKnown(readSessionSearch),
    component: lazyPage(() => import('./sessions/session-page.tsx'), 'SessionPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/configurations',
    validateSearch: onlyKnown(readConfigurationListSearch),
    component: lazyPage(() => import('./configurations/configuration-list.tsx'), 'ConfigurationListPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/configurations/$name',
    validateSearch: onlyKnown(readConfigurationSearch),
    component: lazyPage(() => import('./configurations/configuration-page.tsx'), 'ConfigurationPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/rollouts',
    validateSearch: onlyKnown(readRolloutSearch),
    component: lazyPage(() => import('./batches/rollout-page.tsx'), 'RolloutPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/drift',
    validateSearch: onlyKnown(readDriftSearch),
    component: lazyPage(() => import('./schedules/drift-page.tsx'), 'DriftPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/audit',
    validateSearch: onlyKnown(readAuditSearch),
    component: lazyPage(() => import('./audit/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/batches',
    validateSearch: onlyKnown(readBatchSearch),
    component: lazyPage(() => import('./batches/batch-page.tsx'), 'BatchPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/schedules',
    validateSearch: onlyKnown(readScheduleSearch),
    component: lazyPage(() => import('./schedules/schedule-page.tsx'), 'SchedulePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/images',
    validateSearch: onlyKnown(readImageSearch),
    component: lazyPage(() => import('./images/image-page.tsx'), 'ImagePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sources',
    validateSearch: onlyKnown(readSourceSearch),
    component: lazyPage(() => import('./configurations/source-page.tsx'), 'SourcePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/webhooks',
    validateSearch: onlyKnown(readWebhookSearch),
    component: lazyPage(() => import('./webhooks/webhook-page.tsx'), 'WebhookPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/access',
    validateSearch: onlyKnown(readAccessSearch),
    component: lazyPage(() => import('./secrets/access-page.tsx'), 'AccessPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/system',
    component: lazyPage(() => import('./service/system-page.tsx'), 'SystemPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/operator',
    validateSearch: onlyKnown(readResourceListSearch),
    component: lazyPage(() => import('./operator/operator-page.tsx'), 'OperatorPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/operator/$id',
    validateSearch: onlyKnown(readResourceSearch),
    component: lazyPage(() => import('./operator/resource-page.tsx'), 'ResourcePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/deployments',
    validateSearch: onlyKnown(readDeploymentListSearch),
    component: lazyPage(() => import('./deployments/deployment-list.tsx'), 'DeploymentListPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/deployments/$name',
    validateSearch: onlyKnown(readDeploymentSearch),
    component: lazyPage(() => import('./deployments/deployment-page.tsx'), 'DeploymentPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/propagation',
    validateSearch: onlyKnown(readPlanListSearch),
    component: lazyPage(() => import('./propagation/plan-list.tsx'), 'PlanListPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/propagation/$id',
    validateSearch: onlyKnown(readPlanSearch),
    component: lazyPage(() => import('./propagation/plan-page.tsx'), 'PlanPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    component: lazyPage(() => import('./access/sign-in-page.tsx'), 'SignInPage'),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren(pages),
  basepath: UI_PATH,
  defaultPreload: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
