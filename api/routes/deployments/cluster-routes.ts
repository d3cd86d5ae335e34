import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { registerCluster, removeCluster, rotateCluster } from '../../../control/deployments/put-cluster.ts';
import {
  clustersOf,
  clustersWithLabel,
  getClusterRecord,
  readKubeconfigFile,
} from '../../../control/deployments/read-clusters.ts';
import type { ClusterRef } from '../../../domain/deployments/naming.ts';
import { PlainRecordSchema } from '../../../domain/deployments/schema.ts';
import { musterError } from '../../../domain/errors.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { readForm } from '../../server/multipart.ts';
import { negotiate } from '../../server/negotiate.ts';
import type { DeploymentApi } from './dependencies.ts';
import { NOT_JSON } from './not-json.ts';
import { sendForm } from './send-form.ts';

const ofProvider = z.object({ provider: z.string().describe('name of the provider') });
const params = ofProvider.extend({ cluster: z.string().describe('name of the cluster') });
const tags = ['clusters'];
const base = '/v2/cluster-providers/:provider/clusters';
const FORM = 'multipart/form-data';
const BYTES = 'application/octet-stream';
const JSON_TYPE = 'application/json';
const KUBECONFIG = [
  'invalid_form',
  'invalid_kubeconfig',
  'cluster_address_not_allowed',
  'secret_store_unavailable',
  NOT_JSON,
  'unsupported_media_type',
] as const;

/** Clusters with their kubeconfigs. */
export async function clusterRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  const list = {
    schema: {
      tags,
      summary:
        'List the clusters of a provider by name; with `label` only the names of the clusters that have the label',
      params: ofProvider,
      querystring: z.object({ label: z.string().optional().describe('only names of clusters with this label') }),
      response: { 200: z.union([z.array(PlainRecordSchema), z.array(z.string())]) },
    },
    config: { access: 'reader', class: 'list', refuses: ['not_found'] },
  } as const;
  const answer = ({
    params: { provider },
    query: { label },
  }: {
    params: { provider: string };
    query: { label?: string | undefined };
  }) => (label === undefined ? clustersOf(deps, provider) : clustersWithLabel(deps, provider, label));
  app.get(base, list, answer);
  // EMCO's clients put a slash before the query.
  app.get(`${base}/`, { ...list, schema: { ...list.schema, hide: true } }, answer);

  app.post(
    base,
    {
      schema: {
        tags,
        summary: 'Register a cluster: a form of `metadata` and `file`, its kubeconfig',
        params: ofProvider,
        consumes: [FORM],
        response: { 201: PlainRecordSchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        multipart: true,
        refuses: ['not_found', 'already_exists', ...KUBECONFIG],
      },
    },
    async (request, reply) => {
      const { metadata, file } = await readForm(request, PlainRecordSchema);
      const given = { metadata: metadata.metadata, kubeconfig: file };
      return reply.code(201).send(await registerCluster(deps, acting(request), request.params.provider, given));
    },
  );

  app.get(
    `${base}/:cluster`,
    {
      schema: {
        tags,
        summary: 'Read a cluster; its kubeconfig, by `Accept`, as admin',
        params,
        produces: [JSON_TYPE, BYTES, FORM],
        response: { 200: PlainRecordSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['not_found', 'not_acceptable', 'secret_unreadable'] },
    },
    async (request, reply) => {
      const type = negotiate(request, [JSON_TYPE, BYTES, FORM]);
      if (type === JSON_TYPE) return getClusterRecord(deps, refOf(request.params));
      return sendKubeconfig(deps, request, reply, type);
    },
  );

  app.put(
    `${base}/:cluster`,
    {
      schema: {
        tags,
        summary: "Replace a cluster's metadata and kubeconfig",
        params,
        consumes: [FORM],
        response: { 200: PlainRecordSchema, 201: PlainRecordSchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        multipart: true,
        refuses: ['not_found', 'already_exists', ...KUBECONFIG],
      },
    },
    async (request, reply) => {
      const { metadata, file } = await readForm(request, PlainRecordSchema);
      const given = { metadata: metadata.metadata, kubeconfig: file };
      const { record, isNew } = await rotateCluster(deps, acting(request), refOf(request.params), given);
      return reply.code(isNew ? 201 : 200).send(record);
    },
  );

  app.delete(
    `${base}/:cluster`,
    {
      schema: { tags, summary: 'Remove a cluster and its credential', params, response: { 204: NoContentSchema } },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: ['not_found', 'has_children', 'in_use', 'invalid_state', 'context_busy'],
      },
    },
    async (request, reply) => {
      await removeCluster(deps, refOf(request.params));
      return reply.code(204).send();
    },
  );
}

export function refOf({ provider, cluster }: ClusterRef): ClusterRef {
  return { provider, cluster };
}

/** The kubeconfig is a secret: it is for administrators, and its reading is on record. */
async function sendKubeconfig(
  deps: DeploymentApi,
  request: FastifyRequest<{ Params: ClusterRef }>,
  reply: FastifyReply,
  type: typeof BYTES | typeof FORM,
): Promise<FastifyReply> {
  const { caller, method } = request;
  if (caller !== null && caller.role !== 'admin') {
    throw musterError('forbidden', 'The kubeconfig of a cluster is for administrators: ask for application/json');
  }
  const ref = refOf(request.params);
  // HEAD carries no file, so none is opened.
  if (method === 'HEAD') {
    await getClusterRecord(deps, ref);
    return reply.header('content-type', type).send();
  }
  const { metadata, file } = await readKubeconfigFile(deps, acting(request), ref);
  reply.header('cache-control', 'no-store');
  if (type === BYTES) return reply.header('content-type', BYTES).send(file);
  return sendForm(reply, { metadata }, file);
}
