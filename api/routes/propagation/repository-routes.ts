import { z } from 'zod';
import { addRepository, removeDefinition, removeRepository } from '../../../control/propagation/create-repository.ts';
import { putDefinition } from '../../../control/propagation/put-definition.ts';
import {
  getDefinition,
  getRepository,
  pageOfRepositories,
  viewOfRepository,
} from '../../../control/propagation/read-definitions.ts';
import { requestSync } from '../../../control/propagation/sync-repository.ts';
import { PROPAGATION_MEANINGS } from '../../../domain/propagation/errors.ts';
import { PageQuerySchema } from '../../../domain/propagation/request-schema.ts';
import {
  DefinitionPutSchema,
  DefinitionSchema,
  RepositoryCreateSchema,
  RepositorySchema,
} from '../../../domain/propagation/schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { PropagationApi } from './dependencies.ts';
import { pageOfList } from './pages.ts';

const tags = ['repositories'];
const params = z.object({ repository: z.string().describe('name of the repository') });
const definitionParams = params.extend({
  name: z.string().describe('name of the definition'),
  version: z.string().describe('its version, as `1.2.3`'),
});

/** Largest body with the files of a definition, bytes: 16 MiB of content in base64. */
const DEFINITION_BODY = 24 * 2 ** 20;
/** A repository that a request names is not there: lane configurations says something else with the word. */
export const REPOSITORY_NOT_FOUND = {
  code: 'repository_not_found',
  status: PROPAGATION_MEANINGS.repository_not_found.status,
} as const;

const GIT = {
  name: 'site',
  url: 'https://git.example.com/definitions.git',
  ref: 'main',
  path: 'definitions',
  source: 'site-git',
};

const DEFINITION = {
  files: {
    'meta.yaml': 'version: 1.0.0\nhandler: shell\ninput:\n  port: {schema: int!, value: 80}\n',
    'actions/run.sh': 'exit 0\n',
  },
};

/** Repositories of definitions, and the definitions in them. */
export async function repositoryRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  app.get(
    '/repositories',
    {
      schema: {
        tags,
        summary: 'List repositories of definitions by name',
        querystring: PageQuerySchema,
        response: { 200: z.object({ repositories: z.array(RepositorySchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const page = await pageOfRepositories(deps.db, query.after_id, query.limit);
      return pageOfList('repositories', page, query, ({ name }) => name);
    },
  );

  app.post(
    '/repositories',
    {
      schema: {
        tags,
        summary: 'Make a repository that definitions are put into, or that is read from git',
        description:
          'With `url` the definitions are read from git: the repository is `syncing` at once, and is read again by its route `sync`. A version that is stored never changes: where a commit has other content under it, the sync fails and takes in nothing.',
        body: RepositoryCreateSchema.meta({ examples: { uploaded: { name: 'apps' }, git: GIT } }),
        response: { 201: RepositorySchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: [
          ...['repository_exists', 'validation_failed', 'repository_url_refused', 'password_in_address'],
          'source_unknown',
        ] as const,
      },
    },
    async (request, reply) => {
      const row = await addRepository({ ...deps, ...acting(request) }, request.body);
      return reply.code(201).send(viewOfRepository(row));
    },
  );

  app.post(
    '/repositories/:repository/sync',
    {
      schema: {
        tags,
        summary: 'Read the definitions of a git repository again',
        description:
          'A worker resolves the branch after this request, and takes in all definitions of the commit or none. The repository shows how it ended.',
        params,
        response: { 202: RepositorySchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: [REPOSITORY_NOT_FOUND, 'repository_read_only', 'validation_failed'],
      },
    },
    async (request, reply) => {
      const row = await requestSync({ ...deps, ...acting(request) }, request.params.repository);
      return reply.code(202).send(viewOfRepository(row));
    },
  );

  app.get(
    '/repositories/:repository',
    {
      schema: {
        tags,
        summary: 'Read a repository with the versions of its definitions',
        params,
        response: { 200: RepositorySchema },
      },
      config: { access: 'reader', class: 'list', refuses: [REPOSITORY_NOT_FOUND] },
    },
    ({ params }) => getRepository(deps.db, params.repository),
  );

  app.delete(
    '/repositories/:repository',
    {
      schema: {
        tags,
        summary: 'Remove a repository with all of its definitions, none of which a resource uses',
        params,
        response: { 204: NoContentSchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: [REPOSITORY_NOT_FOUND, 'repository_in_use', 'repository_read_only'],
      },
    },
    async (request, reply) => {
      await removeRepository({ ...deps, ...acting(request) }, request.params.repository);
      return reply.code(204).send();
    },
  );

  app.get(
    '/repositories/:repository/definitions/:name/:version',
    {
      schema: {
        tags,
        summary: 'Read a version of a definition',
        params: definitionParams,
        response: { 200: DefinitionSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['definition_not_found'] },
    },
    ({ params }) => getDefinition(deps.db, params),
  );

  app.put(
    '/repositories/:repository/definitions/:name/:version',
    {
      bodyLimit: DEFINITION_BODY,
      schema: {
        tags,
        summary: 'Store a version of a definition, which never changes from then on',
        description:
          'The same content again is answered with 200 and changes nothing. The version is that of `meta.yaml`.',
        params: definitionParams,
        body: DefinitionPutSchema.meta({ examples: { shell: DEFINITION } }),
        response: { 200: DefinitionSchema, 201: DefinitionSchema },
      },
      config: {
        access: 'admin',
        class: 'bulk',
        refuses: [
          ...[REPOSITORY_NOT_FOUND, 'repository_read_only', 'definition_exists', 'invalid_spec'],
          ...['validation_failed', 'not_supported', 'value_too_large', 'secret_not_allowed', 'secret_by_reference'],
        ] as const,
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      const { stored } = await putDefinition({ ...deps, ...acting(request) }, { ...params, ...body });
      return reply.code(stored ? 201 : 200).send(await getDefinition(deps.db, params));
    },
  );

  app.delete(
    '/repositories/:repository/definitions/:name/:version',
    {
      schema: {
        tags,
        summary: 'Remove a version of a definition that no resource uses',
        params: definitionParams,
        response: { 204: NoContentSchema },
      },
      config: {
        access: 'admin',
        class: 'quick',
        refuses: ['definition_not_found', 'repository_in_use', 'repository_read_only', 'invalid_spec'],
      },
    },
    async (request, reply) => {
      await removeDefinition({ ...deps, ...acting(request) }, request.params);
      return reply.code(204).send();
    },
  );
}
