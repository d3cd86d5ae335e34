import { z } from 'zod';
import { createSource, restoreSource } from '../../../control/configurations/create-source.ts';
import { deleteSource } from '../../../control/configurations/delete-source.ts';
import { patchSource } from '../../../control/configurations/patch-source.ts';
import { getSource, listSources } from '../../../control/configurations/read-source.ts';
import {
  InUseListQuerySchema,
  SourceCreateSchema,
  SourceNameSchema,
  SourcePatchSchema,
  SourceRestoreSchema,
  SourceSchema,
} from '../../../domain/configurations/schema.ts';
import { sourceNameOfPath } from '../../../domain/configurations/source-rules.ts';
import { isMusterError, musterError, problemOf } from '../../../domain/errors.ts';
import { acting } from '../../acting.ts';
import { NextSchema, NoContentSchema, nextByName } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { isStorable } from '../../server/json-body.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import { sendProblem } from '../../server/problems.ts';
import type { ConfigurationApi } from './dependencies.ts';

const params = z.object({
  source_id: z
    .string()
    .describe('Name of the source. A name with slashes is URL-encoded twice (`%252F`); once is accepted too.'),
});
const tags = ['sources'];

const CLONE_URL = 'https://git.example.com/site.git';
const CREATE_EXAMPLES = {
  password: { name: 'site', clone_url: CLONE_URL, credentials: { username: 'reader', password: 'example' } },
};
const PATCH_EXAMPLES = { rotate: { credentials: { username: 'reader', password: 'another example' } } };

/**
 * CFS's sources (cfs-api 12). Credentials go to the secret store and never come back. A source names the credentials that go to its
 * URL: who may change a source could have them sent elsewhere, so changes are for administrators.
 */
export async function sourceRoutes(app: ApiServer, deps: ConfigurationApi): Promise<void> {
  collectionRoutes(app, deps);

  app.get(
    '/v3/sources/:source_id',
    {
      schema: { tags, summary: 'Read a source', params, response: { 200: SourceSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['source_not_found'] },
    },
    async ({ params }) => getSource(deps.db, nameOf(params)),
  );

  app.post(
    '/v3/sources/:source_id',
    {
      schema: {
        tags,
        summary: 'Make a source again that uses an existing secret',
        params,
        body: SourceRestoreSchema.meta({
          examples: {
            restore: {
              clone_url: CLONE_URL,
              credentials: { authentication_method: 'password', secret_name: 'site-git' },
            },
          },
        }),
        response: { 201: SourceSchema },
      },
      config: { access: 'admin', class: 'remote', refuses: ['source_exists', 'read_only'] },
    },
    async (request, reply) => {
      const { params, body } = request;
      const name = nameOf(params);
      if (!SourceNameSchema.safeParse(name).success) throw musterError('bad_request', `The name ${name} is too long`);
      return reply.code(201).send(await restoreSource(deps, acting(request), name, body));
    },
  );

  app.patch(
    '/v3/sources/:source_id',
    {
      schema: {
        tags,
        summary: 'Change a source',
        params,
        body: SourcePatchSchema.meta({ examples: PATCH_EXAMPLES }),
        response: { 200: SourceSchema },
      },
      config: {
        access: 'admin',
        class: 'remote',
        refuses: ['source_not_found', 'invalid_credentials', 'read_only', 'secret_store_unavailable'],
      },
    },
    async (request, reply) => {
      try {
        return await patchSource(deps, acting(request), nameOf(request.params), request.body);
      } catch (error) {
        if (!isMusterError(error) || error.code !== 'source_not_found') throw error;
        // CFS ends this one title with a dot (cfs-api 2).
        const problem = problemOf(error);
        return sendProblem(reply, { ...problem, title: `${problem.title}.` });
      }
    },
  );

  app.delete(
    '/v3/sources/:source_id',
    {
      schema: { tags, summary: 'Delete a source that nothing names', params, response: { 204: NoContentSchema } },
      config: {
        access: 'admin',
        class: 'remote',
        refuses: ['source_not_found', 'source_in_use', 'secret_store_unavailable'],
      },
    },
    async (request, reply) => {
      await deleteSource(deps, nameOf(request.params), deps.sourceUsers);
      return reply.code(204).send();
    },
  );
}

function collectionRoutes(app: ApiServer, deps: ConfigurationApi): void {
  app.get(
    '/v3/sources',
    {
      schema: {
        tags,
        summary: 'List sources',
        querystring: InUseListQuerySchema,
        response: { 200: z.object({ sources: z.array(SourceSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const page = await listSources(deps.db, query);
      return pageAnswer('sources', page.records, page.more, ({ name }) => nextByName(query, page.limit, name));
    },
  );

  app.post(
    '/v3/sources',
    {
      schema: {
        tags,
        summary: 'Make a source',
        body: SourceCreateSchema.meta({ examples: CREATE_EXAMPLES }),
        response: { 201: SourceSchema },
      },
      config: { access: 'admin', class: 'remote', refuses: ['source_exists', 'read_only', 'secret_store_unavailable'] },
    },
    async (request, reply) => reply.code(201).send(await createSource(deps, acting(request), request.body)),
  );
}

/** Clients encode the name twice; the second decoding may bring up what the first check could not see. */
function nameOf({ source_id }: { source_id: string }): string {
  const name = sourceNameOfPath(source_id);
  if (!isStorable(name)) throw musterError('bad_request', "The path parameter 'source_id' has a NUL character");
  return name;
}
