import type { ApiDependencies, ApiServer } from './dependencies.ts';
import { componentRoutes } from './routes/components/component-routes.ts';
import { COMPONENTS_V2, COMPONENTS_V3 } from './routes/components/component-wires.ts';
import { configurationRoutes } from './routes/configurations/configuration-routes.ts';
import { CONFIGURATIONS_V2, CONFIGURATIONS_V3 } from './routes/configurations/configuration-wires.ts';
import { OPTIONS_V2, OPTIONS_V3, optionRoutes } from './routes/configurations/option-routes.ts';
import { sourceRoutes } from './routes/configurations/source-routes.ts';
import { healthRoutes } from './routes/service/health-routes.ts';
import { versionRoutes } from './routes/service/version-routes.ts';
import { cfsSessionRoutes } from './routes/sessions/cfs-session-routes.ts';
import { SESSIONS_V2, SESSIONS_V3 } from './routes/sessions/session-wires.ts';
import { answerV2Error } from './server/problems.ts';

/** All routes of CFS, below one of its prefixes (cfs-api 1). Both versions are the same routes with other names. */
export async function cfsRoutes(app: ApiServer, deps: ApiDependencies): Promise<void> {
  await versionRoutes(app);
  await healthRoutes(app, deps);
  optionRoutes(app, deps, OPTIONS_V3);
  configurationRoutes(app, deps, CONFIGURATIONS_V3);
  await sourceRoutes(app, deps);
  componentRoutes(app, deps, COMPONENTS_V3);
  cfsSessionRoutes(app, deps, SESSIONS_V3);
  await app.register(async (v2: ApiServer) => {
    v2.setErrorHandler(answerV2Error);
    optionRoutes(v2, deps, OPTIONS_V2);
    configurationRoutes(v2, deps, CONFIGURATIONS_V2);
    componentRoutes(v2, deps, COMPONENTS_V2);
    cfsSessionRoutes(v2, deps, SESSIONS_V2);
  });
}
