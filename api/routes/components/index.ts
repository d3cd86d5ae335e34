import type { ApiLane } from '../../shared/api-shared.ts';
import { componentRoutes } from './component-routes.ts';
import { componentTopics } from './component-topics.ts';
import { COMPONENTS_V2, COMPONENTS_V3 } from './component-wires.ts';
import { componentApi } from './dependencies.ts';
import { componentImportRoutes } from './import-routes.ts';
import { componentListRoutes } from './list-routes.ts';
import { componentResetRoutes } from './reset-routes.ts';
import { selectionRoutes } from './selection-routes.ts';
import { timelineRoutes } from './timeline-routes.ts';

export const components: ApiLane = (shared, { timeline }) => {
  const deps = componentApi(shared);
  return {
    tags: { components: 'Machines with their desired and reached state.' },
    v3: (app) => componentRoutes(app, deps, COMPONENTS_V3),
    v2: (app) => componentRoutes(app, deps, COMPONENTS_V2),
    muster: {
      'import of components': (app) => componentImportRoutes(app, deps),
      'list of components': (app) => componentListRoutes(app, deps),
      reset: (app) => componentResetRoutes(app, deps),
      selections: (app) => selectionRoutes(app, deps),
      timeline: (app) => timelineRoutes(app, { ...deps, timeline }),
    },
    topics: componentTopics(deps),
  };
};
