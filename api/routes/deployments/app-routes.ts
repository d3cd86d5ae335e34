import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { addApp, addProfile, readRecordFile, removeApp } from '../../../control/deployments/put-app.ts';
import { getRecord, recordsOf, removeRecord } from '../../../control/deployments/records.ts';
import {
  AppProfileSchema,
  AppSchema,
  type StoredRecord,
  StoredRecordSchema,
} from '../../../domain/deployments/record-schema.ts';
import { musterError } from '../../../domain/errors.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { readForm } from '../../server/multipart.ts';
import { negotiate } from '../../server/negotiate.ts';
import type { DeploymentApi } from './dependencies.ts';
import { listRoutes, type Picked } from './list-routes.ts';
import { NOT_BUILT } from './not-built.ts';
import { NOT_JSON } from './not-json.ts';
import { COMPOSITE_APP, paramsOf, recordAt } from './record-paths.ts';
import { sendForm } from './send-form.ts';

const tags = ['projects'];
const FORM = 'multipart/form-data';
const BYTES = 'application/octet-stream';
const JSON_TYPE = 'application/json';
const PROFILE = `${COMPOSITE_APP}/composite-profiles/:profile`;
const REFUSES = [
  ...(['not_found', 'already_exists', 'invalid_form', 'secret_store_unavailable'] as const),
  NOT_JSON,
  'unsupported_media_type',
] as const;

/** Apps and their profiles: records with an archive. */
export async function appRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  const apps = `${COMPOSITE_APP}/apps`;
  app.post(
    apps,
    {
      schema: {
        tags,
        summary:
          'Add an app: a form of `metadata` (with `spec.dependsOn`: apps to wait for) and `file`, a `.tar.gz` of plain YAML that is checked now',
        params: paramsOf(apps),
        consumes: [FORM],
        response: { 201: StoredRecordSchema.extend({ warnings: z.array(z.string()).optional() }) },
      },
      config: { access: 'operator', class: 'bulk', multipart: true, refuses: [...REFUSES, 'render_failed', NOT_BUILT] },
    },
    async (request, reply) => {
      const { metadata, file } = await readForm(request, AppSchema);
      const parent = recordAt(COMPOSITE_APP, request.params);
      return reply.code(201).send(await addApp(deps, acting(request), parent, metadata, file));
    },
  );
  fileRoutes(app, deps, { kind: 'app', above: COMPOSITE_APP, base: apps, item: '/:app' });
  app.delete(
    `${apps}/:app`,
    {
      schema: { tags, summary: 'Remove an app', params: paramsOf(`${apps}/:app`), response: { 204: NoContentSchema } },
      config: { access: 'operator', class: 'quick', refuses: ['not_found', 'in_use'] },
    },
    async ({ params }, reply) => {
      await removeApp(deps, recordAt(`${apps}/:app`, params), recordAt(COMPOSITE_APP, params));
      return reply.code(204).send();
    },
  );

  const profiles = `${PROFILE}/profiles`;
  app.post(
    profiles,
    {
      schema: {
        tags,
        summary: 'Add the profile of an app: a form of `metadata` and `file`; its content is kept and not used',
        params: paramsOf(profiles),
        consumes: [FORM],
        response: { 201: StoredRecordSchema },
      },
      config: { access: 'operator', class: 'bulk', multipart: true, refuses: REFUSES },
    },
    async (request, reply) => {
      const { metadata, file } = await readForm(request, AppProfileSchema);
      const parent = recordAt(PROFILE, request.params);
      return reply.code(201).send(await addProfile(deps, acting(request), parent, metadata, file));
    },
  );
  fileRoutes(app, deps, {
    ...{ kind: 'profile', above: PROFILE, base: profiles, item: '/:app_profile' },
    picked: {
      ...{ parameter: 'app-name', text: 'only the profile of this app', answer: StoredRecordSchema },
      of: profileOf,
    },
  });
  app.delete(
    `${profiles}/:app_profile`,
    {
      schema: {
        ...{ tags, summary: 'Remove an app profile', params: paramsOf(`${profiles}/:app_profile`) },
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['not_found'] },
    },
    async ({ params }, reply) => {
      await removeRecord(deps, 'profile', recordAt(`${profiles}/:app_profile`, params));
      return reply.code(204).send();
    },
  );
}

interface Files {
  kind: 'app' | 'profile';
  above: string;
  base: string;
  item: string;
  picked?: Picked;
}

/** Declares list and read; the file of a record is for operators. */
function fileRoutes(app: ApiServer, deps: DeploymentApi, { kind, above, base, item, picked }: Files): void {
  const word = kind === 'app' ? 'app' : 'app profile';
  listRoutes(app, base, {
    ...{ tag: 'projects', hasParent: true, picked },
    summary: `List each ${word}, in the order in which they were added`,
    all: (names) => recordsOf(deps, kind, recordAt(above, names)),
  });
  app.get(
    `${base}${item}`,
    {
      schema: {
        ...{
          tags,
          summary: `Read an ${word}; its archive, by \`Accept\`, as operator`,
          params: paramsOf(`${base}${item}`),
        },
        produces: [JSON_TYPE, BYTES, FORM],
        response: { 200: StoredRecordSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['not_found', 'not_acceptable', 'secret_unreadable'] },
    },
    async (request, reply) => {
      const type = negotiate(request, [JSON_TYPE, BYTES, FORM]);
      const path = recordAt(`${base}${item}`, request.params);
      if (type === JSON_TYPE) return getRecord(deps, kind, path);
      return sendFile(deps, request, reply, { kind, path, type });
    },
  );
}

/** Archives may hold Secrets. */
async function sendFile(
  deps: DeploymentApi,
  request: FastifyRequest,
  reply: FastifyReply,
  { kind, path, type }: { kind: 'app' | 'profile'; path: string; type: typeof BYTES | typeof FORM },
): Promise<FastifyReply> {
  const { caller, method } = request;
  if (caller !== null && caller.role !== 'admin' && caller.role !== 'operator') {
    throw musterError('forbidden', 'The archive of an app is for operators: ask for application/json');
  }
  // HEAD carries no file, so none is opened.
  if (method === 'HEAD') {
    await getRecord(deps, kind, path);
    return reply.header('content-type', type).send();
  }
  const { record, file } = await readRecordFile(deps, kind, path);
  reply.header('cache-control', 'no-store');
  if (type === BYTES) return reply.header('content-type', BYTES).send(file);
  return sendForm(reply, record, file);
}

function profileOf(all: readonly StoredRecord[], app: string): StoredRecord {
  const found = all.find(({ spec }) => spec?.['app-name'] === app);
  if (found === undefined) throw musterError('not_found', `App '${app}' has no profile`);
  return found;
}
