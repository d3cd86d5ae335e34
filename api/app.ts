import fastify from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { requestActor } from './acting.ts';
import { cfsRoutes } from './cfs-routes.ts';
import type { ApiDependencies, ApiServer } from './dependencies.ts';
import { parseQuery } from './query.ts';
import { tokenRoutes } from './routes/access/token-routes.ts';
import { auditRoutes } from './routes/audit/audit-routes.ts';
import { batchRoutes } from './routes/batches/batch-routes.ts';
import { rolloutRoutes } from './routes/batches/rollout-routes.ts';
import { componentImportRoutes } from './routes/components/import-routes.ts';
import { componentResetRoutes } from './routes/components/reset-routes.ts';
import { timelineRoutes } from './routes/components/timeline-routes.ts';
import { configurationImportRoutes } from './routes/configurations/import-routes.ts';
import { musterOptionRoutes } from './routes/configurations/option-routes.ts';
import { imageRoutes } from './routes/images/image-routes.ts';
import { imsRoutes } from './routes/images/ims-routes.ts';
import { runRoutes } from './routes/runs/run-routes.ts';
import { driftRoutes } from './routes/schedules/drift-routes.ts';
import { scheduleCommandRoutes } from './routes/schedules/schedule-command-routes.ts';
import { scheduleRoutes } from './routes/schedules/schedule-routes.ts';
import { secretRoutes } from './routes/secrets/secret-routes.ts';
import { metrics } from './routes/service/metrics-routes.ts';
import { probes } from './routes/service/probe-routes.ts';
import { statusRoutes } from './routes/service/status-routes.ts';
import { temporalUi } from './routes/service/temporal-ui-routes.ts';
import { musterSessionRoutes } from './routes/sessions/session-routes.ts';
import { trustRoutes } from './routes/trust/trust-routes.ts';
import { webhookRoutes } from './routes/webhooks/webhook-routes.ts';
import { listenerOptions } from './server/access/tls-listener.ts';
import { access, nodeReports } from './server/plugins/access.ts';
import { addressMask } from './server/plugins/address-mask.ts';
import { attribution } from './server/plugins/attribution.ts';
import { crossSiteCheck } from './server/plugins/cross-site-check.ts';
import { documentation } from './server/plugins/documentation.ts';
import { hostCheck } from './server/plugins/host-check.ts';
import { idempotency } from './server/plugins/idempotency.ts';
import { maskedAnswers } from './server/plugins/masked-answers.ts';
import { overload } from './server/plugins/overload.ts';
import { requestBodies } from './server/plugins/request-bodies.ts';
import { requestChecks } from './server/plugins/request-checks.ts';
import { quietLog, requestId, requestLog } from './server/plugins/request-log.ts';
import { slowReaders } from './server/plugins/slow-readers.ts';
import { traceRequests } from './server/plugins/trace-requests.ts';
import { optionsOfPaths, unknownPaths } from './server/plugins/unknown-paths.ts';
import { answerError, answerUnreadable } from './server/problems.ts';

type Routes = (app: ApiServer, deps: ApiDependencies) => Promise<void>;

const MUSTER_ROUTES: readonly Routes[] = [
  statusRoutes,
  musterOptionRoutes,
  secretRoutes,
  musterSessionRoutes,
  driftRoutes,
  scheduleRoutes,
  scheduleCommandRoutes,
  tokenRoutes,
  webhookRoutes,
  trustRoutes,
  configurationImportRoutes,
  componentImportRoutes,
  componentResetRoutes,
  auditRoutes,
  timelineRoutes,
  batchRoutes,
  rolloutRoutes,
  imageRoutes,
  runRoutes,
];

/** Prefixes of the image service: with and without its version (cfs-flows 7). */
const IMS_PREFIXES = ['/apis/ims', '/apis/ims/v2'];

/** Longest request line and headers together, bytes: lists of ids travel in queries. */
const MAX_HEADER = 256 * 1024;

/**
 * A client must send its whole request in this time, ms: the largest image over a slow line. Bodies that are held have less
 * time, see requestBodies.
 */
const REQUEST_MS = 24 * 3_600_000;

/**
 * The HTTP API without a listener. CFS's routes answer under every prefix, Muster's own under `/api/v1` (cfs-api 1). Checks
 * run in this order: host, cross-site write, who asks and may, path and query, content type, JSON, schema, then the rules of
 * the route.
 */
export function createApp(deps: ApiDependencies): ApiServer {
  const app: ApiServer = fastify({
    loggerInstance: deps.log,
    logController: quietLog,
    genReqId: requestId,
    bodyLimit: deps.maxBody,
    routerOptions: { maxParamLength: MAX_HEADER, querystringParser: parseQuery },
    ...listenerOptions(deps.tls, MAX_HEADER),
    requestTimeout: REQUEST_MS,
    forceCloseConnections: 'idle',
    frameworkErrors: answerError,
    clientErrorHandler: answerUnreadable,
  }).withTypeProvider<ZodTypeProvider>();

  app.setErrorHandler(answerError);
  // Answers are sent as they are: a record that does not match its description must not break a whole list.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  // CFS's media types have no charset; the framework adds one.
  app.addHook('onSend', async (_request, reply) => {
    const type = reply.getHeader('content-type');
    if (typeof type !== 'string' || !type.includes('json')) return;
    reply.header('content-type', type.replace(/;.*$/s, ''));
    // What is answered may be for this caller alone, and is old at once.
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  });
  addressMask(app);
  requestActor(app);
  requestLog(app);
  traceRequests(app, deps);
  overload(app, deps);
  slowReaders(app, deps);
  hostCheck(app, deps);
  crossSiteCheck(app);
  optionsOfPaths(app);
  access(app, deps);
  unknownPaths(app);
  requestBodies(app, deps);
  idempotency(app, deps);
  requestChecks(app);
  nodeReports(app);
  attribution(app);
  maskedAnswers(app);

  documentation(app, deps);
  metrics(app, deps);
  probes(app, deps);
  app.register(temporalUi, deps);
  for (const prefix of deps.prefixes) {
    app.register(
      async (scope: ApiServer) => {
        if (prefix !== deps.prefixes[0]) hideFromDocumentation(scope);
        await cfsRoutes(scope, deps);
      },
      { prefix },
    );
  }
  for (const prefix of IMS_PREFIXES) {
    app.register(
      async (scope: ApiServer) => {
        if (prefix !== IMS_PREFIXES[0]) hideFromDocumentation(scope);
        await imsRoutes(scope, deps);
      },
      { prefix },
    );
  }
  app.register(
    async (scope: ApiServer) => {
      for (const routes of MUSTER_ROUTES) await routes(scope, deps);
    },
    { prefix: '/api/v1' },
  );
  return app;
}

/** The same routes under another prefix are described once. */
function hideFromDocumentation(scope: ApiServer): void {
  scope.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}
