import fastify from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { requestActor } from '../acting.ts';
import { parseQuery } from '../query.ts';
import { listenerOptions } from '../server/access/tls-listener.ts';
import type { ApiServer } from '../server/api-server.ts';
import { overload } from '../server/plugins/overload.ts';
import { requestBodies } from '../server/plugins/request-bodies.ts';
import { requestChecks } from '../server/plugins/request-checks.ts';
import { quietLog, requestId, requestLog } from '../server/plugins/request-log.ts';
import { unknownPaths } from '../server/plugins/unknown-paths.ts';
import { answerError, answerUnreadable } from '../server/problems.ts';
import { declaredRoutes } from '../server/route-config.ts';
import type { IngestDependencies } from './dependencies.ts';
import { jobRoutes } from './job-routes.ts';
import { runAccess } from './run-access.ts';
import { runRoutes } from './run-routes.ts';

const MAX_HEADER = 32 * 1024;
/** Largest body: results of some 100,000 hosts. */
const MAX_BODY = 32 * 2 ** 20;
/** A body of which nothing comes for so long is given up, ms. */
const STALL_MS = 30_000;
/** Parts that are stored at once: fewer than there are connections to the database, so that the API keeps some. */
const MAX_REQUESTS = 8;
/** A runner must send a whole request in this time, ms. */
const REQUEST_MS = 120_000;

/**
 * The server that runners elsewhere hand their events, output, results and exit status to, and of which pods of sessions ask what to do, on a
 * port of its own and without a listener here. It serves nothing else: who reaches this port with the token of a run can write that run, with
 * the token of a session's Job that session's runs and steps (design: access).
 */
export function createIngestApp(deps: IngestDependencies): ApiServer {
  const app: ApiServer = fastify({
    ...listenerOptions(deps.tls, MAX_HEADER),
    loggerInstance: deps.log,
    logController: quietLog,
    genReqId: requestId,
    routerOptions: { maxParamLength: 1024, querystringParser: parseQuery },
    requestTimeout: REQUEST_MS,
    forceCloseConnections: 'idle',
    frameworkErrors: answerError,
    clientErrorHandler: answerUnreadable,
  }).withTypeProvider<ZodTypeProvider>();
  app.setErrorHandler(answerError);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  // Who may is decided by the run or session in the path (runAccess).
  declaredRoutes(app, ['class']);
  requestActor(app);
  requestLog(app);
  overload(app, { log: deps.log, maxRequests: MAX_REQUESTS });
  runAccess(app, deps);
  unknownPaths(app);
  requestBodies(app, { maxBody: MAX_BODY, stallMs: STALL_MS, bodyMs: REQUEST_MS });
  requestChecks(app);
  app.register(async (scope: ApiServer) => runRoutes(scope, deps));
  app.register(async (scope: ApiServer) => jobRoutes(scope, deps));
  return app;
}
