import { z } from 'zod';
import { explainNode } from '../../../control/propagation/explain-node.ts';
import { getNode, getPlan, getReport, pageOfNodes, pageOfPlans } from '../../../control/propagation/read-plan.ts';
import { getGraph, pageOfEdges, placeOf } from '../../../control/propagation/show-plan.ts';
import { graphDot, graphTree } from '../../../domain/propagation/graph-text.ts';
import { GraphQuerySchema, PlanListQuerySchema } from '../../../domain/propagation/plan-request-schema.ts';
import { ExplanationSchema, PlanEdgeSchema } from '../../../domain/propagation/plan-schema.ts';
import { planReportText } from '../../../domain/propagation/plan-text.ts';
import { PlanNodeViewSchema, PlanReportSchema, PlanViewSchema } from '../../../domain/propagation/plan-view-schema.ts';
import { PageQuerySchema } from '../../../domain/propagation/request-schema.ts';
import { AFTER_ID_TEXT } from '../../../domain/schema.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { preferredType } from '../../server/streaming/accept.ts';
import type { PropagationApi } from './dependencies.ts';
import { pageOfList } from './pages.ts';

const tags = ['plans'];
const params = z.object({ plan: z.string().describe('id of the plan') });
const nodeParams = params.extend({ node: z.string().describe('id of the node, percent-encoded') });
const DOT = 'text/vnd.graphviz';
const JSON_OR_TEXT = ['application/json', 'text/plain'] as const;
const DOT_OR_TREE = [DOT, 'text/plain'] as const;

/** Plans as they are read: header, nodes, edges, report, graph, and why a node stands in its plan. */
export async function planRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  const { db } = deps;

  app.get(
    '/plans',
    {
      schema: {
        tags,
        summary: 'List plans, newest first',
        querystring: PlanListQuerySchema,
        response: { 200: z.object({ plans: z.array(PlanViewSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['plan_not_found'] },
    },
    async ({ query }) => {
      const filter = { state: query.state || undefined, prefix: query.prefix };
      const page = await pageOfPlans(db, filter, query.after_id, query.limit);
      return pageOfList('plans', page, query, ({ id }) => id);
    },
  );

  app.get(
    '/plans/:plan',
    {
      schema: { tags, summary: 'Read a plan with the counts of its nodes', params, response: { 200: PlanViewSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['plan_not_found'] },
    },
    ({ params }) => getPlan(db, params.plan),
  );

  app.get(
    '/plans/:plan/nodes',
    {
      schema: {
        tags,
        summary: 'List the nodes of a plan in canonical order',
        params,
        querystring: PageQuerySchema,
        response: { 200: z.object({ nodes: z.array(PlanNodeViewSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['plan_not_found', 'node_not_found'] },
    },
    async ({ params, query }) => {
      const page = await pageOfNodes(db, params.plan, query.after_id, query.limit);
      return pageOfList('nodes', page, query, ({ id }) => id);
    },
  );

  app.get(
    '/plans/:plan/nodes/:node',
    {
      schema: { tags, summary: 'Read a node of a plan', params: nodeParams, response: { 200: PlanNodeViewSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['plan_not_found', 'node_not_found'] },
    },
    ({ params }) => getNode(db, params.plan, params.node),
  );

  app.get(
    '/plans/:plan/nodes/:node/explain',
    {
      schema: {
        tags,
        summary: 'Tell why a node stands in a plan, and what the events into it made of it',
        params: nodeParams,
        response: { 200: ExplanationSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['plan_not_found', 'node_not_found'] },
    },
    ({ params }) => explainNode(db, params.plan, params.node),
  );

  app.get(
    '/plans/:plan/edges',
    {
      schema: {
        tags,
        summary: 'List the edges of a plan by (from, to, type, on)',
        params,
        querystring: PageQuerySchema.extend({ after_id: z.string().max(1_700).default('').describe(AFTER_ID_TEXT) }),
        response: { 200: z.object({ edges: z.array(PlanEdgeSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['plan_not_found'] },
    },
    async ({ params, query }) => {
      const page = await pageOfEdges(db, params.plan, query.after_id, query.limit);
      return pageOfList('edges', page, query, placeOf);
    },
  );

  app.get(
    '/plans/:plan/report',
    {
      schema: {
        tags,
        summary: 'Report what has become of a plan, node by node; also as text/plain',
        params,
        produces: JSON_OR_TEXT,
        response: { 200: PlanReportSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['plan_not_found'] },
    },
    async (request, reply) => {
      const report = await getReport(db, request.params.plan);
      if (preferredType(request.headers.accept, JSON_OR_TEXT) === 'application/json') return report;
      return sendText(reply, 'text/plain', planReportText(report));
    },
  );

  app.get(
    '/plans/:plan/graph',
    {
      schema: {
        tags,
        summary: 'Draw the graph of a plan in the language of Graphviz; as text/plain a tree',
        params,
        querystring: GraphQuerySchema,
        produces: DOT_OR_TREE,
        response: { 200: z.string() },
      },
      config: { access: 'reader', class: 'list', refuses: ['plan_not_found', 'node_not_found', 'graph_too_large'] },
    },
    async (request, reply) => {
      const { around, depth } = request.query;
      const view = await getGraph(db, request.params.plan, around === undefined ? undefined : { around, depth });
      const type = preferredType(request.headers.accept, DOT_OR_TREE);
      return sendText(reply, type, type === DOT ? graphDot(view) : graphTree(view));
    },
  );
}

interface TextReply {
  type(type: string): TextReply;
  header(name: string, value: string): TextReply;
  send(payload: never): never;
}

/** Sends text that holds names of resources: it is never taken for a page. */
function sendText(reply: unknown, type: string, text: string): never {
  return (reply as TextReply)
    .type(`${type}; charset=utf-8`)
    .header('x-content-type-options', 'nosniff')
    .send(text as never);
}
