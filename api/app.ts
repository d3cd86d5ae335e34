import fastify from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { SourceUser } from '../control/configurations/delete-source.ts';
import type { LaneStop } from '../domain/lane-stop.ts';
import type { TimelinePart } from '../store/components/timeline.ts';
import { requestActor } from './acting.ts';
import { LANES } from './lanes.ts';
import { parseQuery } from './query.ts';
import { listenerOptions } from './server/access/tls-listener.ts';
import type { ApiServer } from './server/api-server.ts';
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
import { answerError, answerPlacementError, answerUnreadable, answerV2Error } from './server/problems.ts';
import { declaredRoutes } from './server/route-config.ts';
import type { OpenTopic } from './server/streaming/topic-watches.ts';
import { webUi } from './server/web-ui.ts';
import type { ApiParts, ApiShared, Routes } from './shared/api-shared.ts';

/** Order of Muster's own routes in the documents; a group that is not named here comes last. */
const MUSTER_ORDER = [
  ...['status', 'options', 'secrets', 'sessions', 'drift', 'schedules', 'tokens', 'webhooks', 'trust'],
  ...['import of configurations', 'import of components', 'reset', 'audit', 'timeline', 'batches', 'rollouts'],
  ...['images', 'runs'],
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
export function createApp(shared: ApiShared): ApiServer {
  const { settings, log } = shared;
  const app: ApiServer = fastify({
    loggerInstance: log,
    logController: quietLog,
    genReqId: requestId,
    bodyLimit: settings.maxBody,
    routerOptions: { maxParamLength: MAX_HEADER, querystringParser: parseQuery },
    ...listenerOptions(settings.tls, MAX_HEADER),
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
  app.addHook('onRequest', async (_request, reply) => void reply.header('muster-version', settings.version));
  declaredRoutes(app, ['access', 'class']);
  addressMask(app);
  requestActor(app);
  requestLog(app);
  traceRequests(app, shared);
  overload(app, { log, ...settings });
  slowReaders(app, settings);
  hostCheck(app, settings);
  crossSiteCheck(app);
  optionsOfPaths(app);
  access(app, shared);
  unknownPaths(app);
  requestBodies(app, settings);
  idempotency(app, { ...shared, secrets: shared.site.secrets });
  requestChecks(app);
  nodeReports(app);
  attribution(app);
  maskedAnswers(app);

  const timeline: TimelinePart[] = [];
  const stops: LaneStop[] = [];
  const sourceUsers: SourceUser[] = [];
  const topics: Record<string, OpenTopic> = {};
  const offered = { timeline, stops, sourceUsers, topics, again: createApp, lanes: Object.keys(LANES) };
  const lanes = Object.values(LANES).map((lane) => lane(shared, offered));
  timeline.push(...lanes.flatMap((lane) => lane.timeline ?? []));
  stops.push(...lanes.flatMap((lane) => lane.stop ?? []));
  sourceUsers.push(...lanes.flatMap((lane) => lane.sourceUser ?? []));
  for (const lane of lanes) Object.assign(topics, lane.topics);
  webUi(app, { ...settings, webFiles: shared.webFiles });
  documentation(app, { ...settings, tags: tagTexts(lanes) });
  declareRoutes(app, settings.prefixes, lanes);
  return app;
}

/** Declares the routes of all lanes, each surface below its prefixes. */
function declareRoutes(app: ApiServer, prefixes: readonly string[], lanes: readonly ApiParts[]): void {
  const each = async (scope: ApiServer, routes: readonly (Routes | undefined)[]) => {
    for (const declare of routes) await declare?.(scope);
  };
  for (const { root } of lanes) void root?.(app);
  const below = (several: readonly string[], declare: (scope: ApiServer) => Promise<unknown>) => {
    for (const prefix of several) {
      const declareOnce = async (scope: ApiServer) => {
        if (prefix !== several[0]) hideFromDocumentation(scope);
        await declare(scope);
      };
      app.register(declareOnce, { prefix });
    }
  };
  // Both versions of CFS are the same routes with other names.
  below(prefixes, async (scope) => {
    await each(
      scope,
      lanes.map(({ v3 }) => v3),
    );
    await scope.register(async (v2: ApiServer) => {
      v2.setErrorHandler(answerV2Error);
      await each(
        v2,
        lanes.map((lane) => lane.v2),
      );
    });
  });
  below(IMS_PREFIXES, (scope) =>
    each(
      scope,
      lanes.map(({ ims }) => ims),
    ),
  );
  below([''], async (scope) => {
    scope.setErrorHandler(answerPlacementError);
    await each(
      scope,
      lanes.map(({ placement }) => placement),
    );
  });
  below(['/api/v1'], (scope) => each(scope, inOrder(lanes)));
}

/** Returns the groups of Muster's own routes as the documents have them. Throws when two lanes have a group of one name. */
function inOrder(lanes: readonly ApiParts[]): Routes[] {
  const groups = new Map<string, Routes>();
  for (const [name, routes] of lanes.flatMap(({ muster = {} }) => Object.entries(muster))) {
    if (groups.has(name)) throw new Error(`two lanes have routes of the name ${name}`);
    groups.set(name, routes);
  }
  const place = (name: string) => (MUSTER_ORDER.includes(name) ? MUSTER_ORDER.indexOf(name) : MUSTER_ORDER.length);
  return [...groups].sort(([one], [other]) => place(one) - place(other)).map(([, routes]) => routes);
}

/** Returns what the lanes say of the tags of their routes. Throws when two lanes have a text for the same tag. */
function tagTexts(lanes: readonly ApiParts[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [tag, text] of lanes.flatMap(({ tags = {} }) => Object.entries(tags))) {
    if (Object.hasOwn(texts, tag)) throw new Error(`two lanes have a text for the tag ${tag}`);
    texts[tag] = text;
  }
  return texts;
}

/** The same routes under another prefix are described once. */
function hideFromDocumentation(scope: ApiServer): void {
  scope.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}
