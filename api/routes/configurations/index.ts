import { readConfigurationsRevision, readSourcesRevision } from '../../../store/configurations/revisions.ts';
import { topicOfList } from '../../server/streaming/topic-watches.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { configurationRoutes } from './configuration-routes.ts';
import { CONFIGURATIONS_V2, CONFIGURATIONS_V3 } from './configuration-wires.ts';
import { configurationApi } from './dependencies.ts';
import { configurationImportRoutes } from './import-routes.ts';
import { musterOptionRoutes, OPTIONS_V2, OPTIONS_V3, optionRoutes } from './option-routes.ts';
import { resolveRoutes } from './resolve-routes.ts';
import { sourceRoutes } from './source-routes.ts';

/** Configurations, sources and options. */
export const configurations: ApiLane = (shared, offered) => {
  const deps = configurationApi(shared, offered);
  return {
    tags: {
      configurations: 'Ordered layers of repositories and playbooks.',
      // Lane components has routes of this tag, too.
      import: 'Records of another CFS, taken over as they are.',
      options: 'Settings of the service.',
      sources: 'Repositories with their credentials.',
    },
    v3: async (app) => {
      optionRoutes(app, deps, OPTIONS_V3);
      configurationRoutes(app, deps, CONFIGURATIONS_V3);
      await sourceRoutes(app, deps);
    },
    v2: (app) => {
      optionRoutes(app, deps, OPTIONS_V2);
      configurationRoutes(app, deps, CONFIGURATIONS_V2);
    },
    muster: {
      options: (app) => musterOptionRoutes(app, deps),
      'import of configurations': (app) => configurationImportRoutes(app, deps),
      'commits of branches': (app) => resolveRoutes(app, deps),
    },
    topics: {
      configurations: topicOfList(shared.streams, () => readConfigurationsRevision(shared.db)),
      sources: topicOfList(shared.streams, () => readSourcesRevision(shared.db)),
    },
  };
};
