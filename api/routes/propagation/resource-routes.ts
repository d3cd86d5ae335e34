import { z } from 'zod';
import { createResource } from '../../../control/propagation/create-resource.ts';
import {
  getResource,
  pageOfResources,
  type ResourceQuery,
  viewOfItem,
} from '../../../control/propagation/read-resources.ts';
import { removeResource } from '../../../control/propagation/remove-resource.ts';
import { stageChanges } from '../../../control/propagation/stage-changes.ts';
import { tagResource } from '../../../control/propagation/tag-resource.ts';
import { updateInputs } from '../../../control/propagation/update-inputs.ts';
import { type ErrorCode, isMusterError, musterError } from '../../../domain/errors.ts';
import {
  RemovalSchema,
  ResourceDeleteQuerySchema,
  ResourceListQuerySchema,
  ResourceStageSchema,
  StagedPageSchema,
} from '../../../domain/propagation/request-schema.ts';
import {
  ResourceCreateSchema,
  ResourceDetailSchema,
  ResourcePatchSchema,
  ResourceSchema,
  TagsSchema,
} from '../../../domain/propagation/schema.ts';
import { acting } from '../../acting.ts';
import { NextSchema, optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { pageAnswer } from '../../server/list-answer.ts';
import type { PropagationApi } from './dependencies.ts';
import { pageOfList } from './pages.ts';
import { REPOSITORY_NOT_FOUND } from './repository-routes.ts';

const tags = ['resources'];
const params = z.object({ name: z.string().describe('name of the resource, percent-encoded') });

/** What values of inputs are refused with. */
const VALUES: readonly ErrorCode[] = [
  'input_unknown',
  'secret_by_reference',
  'secret_not_allowed',
  'value_too_large',
  'validation_failed',
];

/** Things on machines, made of definitions. */
export async function resourceRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  app.get(
    '/resources',
    {
      schema: {
        tags,
        summary: 'List resources by name',
        querystring: ResourceListQuerySchema,
        response: { 200: z.object({ resources: z.array(ResourceSchema), next: NextSchema }) },
      },
      config: { access: 'reader', class: 'list', refuses: ['tag_syntax'] },
    },
    async ({ query }) => {
      const page = await pageOfResources(deps.db, filterOf(query), query.after_id, query.limit);
      return pageOfList('resources', page, query, ({ name }) => name);
    },
  );

  app.post(
    '/resources',
    {
      schema: {
        tags,
        summary: 'Make a resource of a definition and stage its first run',
        body: ResourceCreateSchema.meta({
          examples: { web: { name: 'web.1', from: 'apps/web:>=1.0.0', inputs: { port: 8080 }, tags: ['zone=a'] } },
        }),
        response: { 201: ResourceDetailSchema },
      },
      config: {
        access: 'operator',
        class: 'quick',
        refuses: ['resource_exists', 'invalid_spec', REPOSITORY_NOT_FOUND, 'definition_not_found', ...VALUES],
      },
    },
    async (request, reply) => {
      const { inputs, ...wanted } = request.body;
      const { name } = await createResource(
        { ...deps, ...acting(request) },
        { ...wanted, inputs: plain(inputs ?? {}) },
      );
      return reply.code(201).send(await getResource(deps.db, name));
    },
  );

  app.get(
    '/resources/:name',
    {
      schema: {
        tags,
        summary: 'Read a resource: own and resolved values, where they come from, what is committed',
        params,
        response: { 200: ResourceDetailSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['resource_not_found'] },
    },
    ({ params }) => getResource(deps.db, params.name),
  );

  app.patch(
    '/resources/:name',
    {
      schema: {
        tags,
        summary: 'Set own values of inputs and stage the resource',
        params,
        body: ResourcePatchSchema.meta({ examples: { port: { inputs: { port: 8081 } } } }),
        response: { 200: ResourceDetailSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['resource_not_found', 'input_connected', ...VALUES] },
    },
    async (request) => {
      const { name } = request.params;
      await updateInputs({ ...deps, ...acting(request) }, name, plain(request.body.inputs));
      return getResource(deps.db, name);
    },
  );

  app.delete(
    '/resources/:name',
    {
      schema: {
        tags,
        summary: 'Stage the removal of a resource; a resource that was never committed is deleted at once',
        params,
        querystring: ResourceDeleteQuerySchema,
        response: { 200: RemovalSchema },
      },
      config: {
        access: 'operator',
        class: 'quick',
        refuses: ['resource_not_found', 'item_in_plan', 'not_supported'],
      },
    },
    async (request) => {
      const { name } = request.params;
      const { force, recursive } = request.query;
      if (recursive) {
        const text = 'The removal of all that depends on a resource (recursive) is not supported yet';
        throw musterError('not_supported', text, 'recursive');
      }
      return { name, removal: await removeResource({ ...deps, ...acting(request) }, name, force) };
    },
  );

  for (const [method, summary, change] of [
    ['PUT', 'Add tags to a resource', (tags: string[]) => ({ add: tags })],
    ['DELETE', 'Take tags away from a resource', (tags: string[]) => ({ remove: tags })],
  ] as const) {
    app.route({
      method,
      url: '/resources/:name/tags',
      schema: {
        tags,
        summary,
        params,
        body: TagsSchema.meta({ examples: { two: { tags: ['zone=a', 'canary'] } } }),
        response: { 200: TagsSchema.describe('all tags of the resource') },
      },
      config: { access: 'operator', class: 'quick', refuses: ['resource_not_found', 'validation_failed'] },
      handler: async (request) => {
        const found = await tagResource(
          { ...deps, ...acting(request) },
          request.params.name,
          change(request.body.tags),
        );
        return { tags: found };
      },
    });
  }

  app.post(
    '/resources/:name/stage',
    {
      schema: {
        tags,
        summary: 'Stage an action of a resource, also where nothing differs',
        params,
        optionalBody: ResourceStageSchema.meta({ examples: { reload: { action: 'reload' } } }),
        response: { 200: StagedPageSchema.describe('the staged changes of the resource') },
      },
      config: {
        access: 'operator',
        class: 'bulk',
        refuses: ['resource_not_found', 'action_not_defined', 'validation_failed', 'item_in_plan'],
      },
    },
    async (request) => {
      const { name } = request.params;
      const { action } = optionalBody(request, ResourceStageSchema);
      const items = await ofPath(name, stageChanges({ ...deps, ...acting(request) }, { names: [name], action }));
      const own = items.filter(({ resource }) => resource === name).map(viewOfItem);
      return pageAnswer('changes', own, false, ({ uid }) => ({ after_id: uid }));
    },
  );
}

type ListQuery = z.infer<typeof ResourceListQuerySchema>;

/** An empty filter filters nothing. */
function filterOf({ tags, state, prefix }: ListQuery): ResourceQuery {
  return { tags: tags || undefined, state: state || undefined, prefix };
}

/**
 * Makes plain numbers of the numbers that the reader of bodies keeps as they were written. Walks with a list of its own instead of the
 * stack: nesting is the sender's choice, and is judged later.
 */
function plain(inputs: Record<string, unknown>): Record<string, unknown> {
  const open: Record<string, unknown>[] = [inputs];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [key, member] of Object.entries(next)) {
      if (member instanceof Number) next[key] = member.valueOf();
      else if (typeof member === 'object' && member !== null) open.push(member as Record<string, unknown>);
    }
  }
  return inputs;
}

/** A resource that is named by the path is not found; a text or body names an unknown one. */
async function ofPath<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isMusterError(error) || error.code !== 'unknown_resource') throw error;
    throw musterError('resource_not_found', `There is no resource ${name.slice(0, 300)}`);
  }
}
