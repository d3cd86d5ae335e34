import { z } from 'zod';
import { inSlices } from '../../../control/changes/in-slices.ts';
import { deleteComponent } from '../../../control/components/delete-component.ts';
import { patchComponent, patchComponents } from '../../../control/components/patch-components.ts';
import { patchComponentsByFilter } from '../../../control/components/patch-components-by-filter.ts';
import { putComponent, putComponents } from '../../../control/components/put-components.ts';
import { getComponent } from '../../../control/components/read-components.ts';
import { KEY_MAX, text } from '../../../domain/schema.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import { bulkIfObject } from '../../server/admission/request-class.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ComponentWire } from './component-wires.ts';
import type { ComponentApi } from './dependencies.ts';

const ParamsSchema = z.object({ component_id: z.string().describe('Id of the component.') });
const NewIdParamsSchema = z.object({ component_id: text(1, KEY_MAX).describe('Id of the component.') });
const tags = ['components'];

/**
 * CFS's components in one version of the API (cfs-api 6). A node reports its own component and changes nothing of what is to run on it.
 */
export function componentRoutes(app: ApiServer, deps: ComponentApi, wire: ComponentWire): void {
  bulkRoutes(app, deps, wire);
  const path = `${wire.path}/:component_id`;

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read a component',
        params: ParamsSchema,
        querystring: wire.details,
        response: { 200: wire.answers.view },
      },
      config: { access: { least: 'reader', ownComponent: true }, class: 'quick', refuses: ['component_not_found'] },
    },
    async ({ params, query }) => wire.view(await getComponent(deps, params.component_id, query)),
  );

  app.put(
    path,
    {
      schema: {
        tags,
        summary: 'Create or replace a component',
        params: NewIdParamsSchema,
        body: wire.body.meta({ examples: wire.examples.put }),
        response: { 200: wire.answers.record },
      },
      config: { access: 'operator', class: 'quick', refuses: ['read_only'] },
    },
    async (request) =>
      wire.record(await putComponent(deps, acting(request), request.params.component_id, request.body)),
  );

  app.patch(
    path,
    {
      schema: {
        tags,
        summary: 'Change members of a component',
        params: ParamsSchema,
        body: wire.body.meta({ examples: wire.examples.patch }),
        response: { 200: wire.answers.record },
      },
      config: {
        access: { least: 'operator', ownComponent: true },
        class: 'quick',
        refuses: ['component_not_found', 'read_only'],
      },
    },
    async (request) =>
      wire.record(await patchComponent(deps, acting(request), request.params.component_id, request.body)),
  );

  app.delete(
    path,
    {
      schema: { tags, summary: 'Delete a component', params: ParamsSchema, response: { 204: NoContentSchema } },
      config: { access: 'operator', class: 'quick', refuses: ['component_not_found'] },
    },
    async ({ params }, reply) => {
      await deleteComponent(deps.db, params.component_id);
      return reply.code(204).send();
    },
  );
}

function bulkRoutes(app: ApiServer, deps: ComponentApi, wire: ComponentWire): void {
  app.get(
    wire.path,
    {
      schema: { tags, summary: 'List components', querystring: wire.query, response: { 200: wire.answers.list } },
      config: { access: 'reader', class: 'list', refuses: wire.listRefuses },
    },
    ({ query }, reply) => wire.sendPage(reply, deps, query),
  );

  app.put(
    wire.path,
    {
      schema: {
        tags,
        summary: 'Create or replace components, all or none',
        body: z.array(wire.body).meta({ examples: wire.examples.putList }),
        response: { 200: wire.answers.written },
      },
      config: { access: 'operator', class: bulkIfObject, refuses: ['bad_data', 'read_only'] },
    },
    async (request, reply) => {
      const written = await putComponents(deps, acting(request), request.body);
      return wire.sendWritten(reply, await inSlices(written, wire.shown));
    },
  );

  app.patch(
    wire.path,
    {
      schema: {
        tags,
        summary: 'Change listed components, or all that match filters',
        body: wire.patches.meta({ examples: wire.examples.patches }),
        response: { 200: wire.answers.written },
      },
      config: {
        access: 'operator',
        class: bulkIfObject,
        refuses: ['component_not_found', 'bad_data', 'bad_tags', 'read_only'],
      },
    },
    async (request, reply) => {
      const { body } = request;
      if (Array.isArray(body)) {
        return wire.sendWritten(reply, await patchComponents(deps, acting(request), body, wire.shown));
      }
      return wire.sendMatched(reply, deps, await patchComponentsByFilter(deps, acting(request), body));
    },
  );
}
