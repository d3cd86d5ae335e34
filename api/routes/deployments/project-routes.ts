import type { z } from 'zod';
import { removeProfile } from '../../../control/deployments/put-app.ts';
import { addRecord, type GivenRecord, putRecord } from '../../../control/deployments/records.ts';
import { CompositeAppSchema, ControllerSchema, StoredRecordSchema } from '../../../domain/deployments/record-schema.ts';
import { PlainRecordSchema } from '../../../domain/deployments/schema.ts';
import { acting } from '../../acting.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { DeploymentApi } from './dependencies.ts';
import { NOT_JSON } from './not-json.ts';
import { COMPOSITE_APP, type Names, PROJECT, paramsOf, recordAt } from './record-paths.ts';
import { recordRoutes } from './record-routes.ts';

/** Projects with their composite apps and profiles; registered controllers. */
export async function projectRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  const tag = 'projects';
  recordRoutes(app, deps, {
    ...{ kind: 'project', above: null, base: '/v2/projects', item: '/:project', tag },
    ...{ access: 'operator', schema: PlainRecordSchema },
  });
  putRoute(app, deps, {
    kind: 'project',
    path: PROJECT,
    name: 'project',
    access: 'operator',
    schema: PlainRecordSchema,
  });
  recordRoutes(app, deps, {
    ...{ kind: 'composite-app', above: PROJECT, base: `${PROJECT}/composite-apps`, item: '/:composite_app/:version' },
    ...{ access: 'operator', schema: CompositeAppSchema, tag },
    add: (by, parent, given) => {
      const { version } = given.spec as { version: string };
      const name = `${given.metadata.name}/${version}`;
      return addRecord(deps, by, { kind: 'composite-app', parent, name }, given);
    },
  });
  recordRoutes(app, deps, {
    ...{
      kind: 'composite-profile',
      above: COMPOSITE_APP,
      base: `${COMPOSITE_APP}/composite-profiles`,
      item: '/:profile',
    },
    ...{ access: 'operator', schema: PlainRecordSchema, tag, refuses: ['in_use'] },
    remove: (_, path, names) => removeProfile(deps, path, recordAt(COMPOSITE_APP, names)),
  });
  const controllers = '/v2/controllers';
  recordRoutes(app, deps, {
    ...{ kind: 'controller', above: null, base: controllers, item: '/:controller', tag },
    ...{ access: 'admin', schema: ControllerSchema },
  });
  putRoute(app, deps, {
    ...{ kind: 'controller', path: `${controllers}/:controller`, name: 'controller' },
    ...{ access: 'admin', schema: ControllerSchema },
  });
}

interface Put {
  kind: 'project' | 'controller';
  path: string;
  /** Parameter with the name of the record. */
  name: string;
  access: 'operator' | 'admin';
  schema: z.ZodType<GivenRecord>;
}

function putRoute(app: ApiServer, deps: DeploymentApi, { kind, path, name, access, schema }: Put): void {
  app.put(
    path,
    {
      schema: {
        tags: ['projects'],
        summary: `Replace a ${kind}, or make it`,
        params: paramsOf(path),
        body: schema,
        response: { 200: StoredRecordSchema, 201: StoredRecordSchema },
      },
      config: {
        access,
        class: 'quick',
        refuses: ['bad_request', 'already_exists', NOT_JSON],
        absentBodyFirst: true,
      },
    },
    async (request, reply) => {
      const names = request.params as Names;
      const place = { kind, name: names[name] ?? '' };
      const { record, isNew } = await putRecord(deps, acting(request), place, request.body as GivenRecord);
      return reply.code(isNew ? 201 : 200).send(record);
    },
  );
}
