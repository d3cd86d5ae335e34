import type { ApiDependencies, ApiServer } from './dependencies.ts';
import { answerV2Error } from './problems.ts';
import { componentRoutes } from './routes/components/component-routes.ts';
import { COMPONENTS_V2, COMPONENTS_V3 } from './routes/components/component-wires.ts';
import { configurationRoutes } from './routes/configurations/configuration-routes.ts';
import { optionRoutes } from './routes/configurations/option-routes.ts';
import { sourceRoutes } from './routes/configurations/source-routes.ts';
import { healthRoutes } from './routes/service/health-routes.ts';
import { versionRoutes } from './routes/service/version-routes.ts';
import { cfsSessionRoutes } from './routes/sessions/cfs-session-routes.ts';

/** All routes of CFS, below one of its prefixes (cfs-api 1). Both versions are the same routes with other names. */
export async function cfsRoutes(app: ApiServer, deps: ApiDependencies): Promise<void> {
  await versionRoutes(app);
  await healthRoutes(app, deps);
  await optionRoutes(app, deps);
  await configurationRoutes(app, deps);
  await sourceRoutes(app, deps);
  componentRoutes(app, deps, COMPONENTS_V3);
  await cfsSessionRoutes(app, deps);
  await app.register(async (v2: ApiServer) => {
    v2.setErrorHandler(answerV2Error);
    componentRoutes(v2, deps, COMPONENTS_V2);
  });
}
