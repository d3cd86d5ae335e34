import { z } from 'zod';
import {
  addGroup,
  addIntent,
  callGroup,
  removeGroup,
  removeIntent,
} from '../../../control/deployments/group-lifecycle.ts';
import { checkSettings } from '../../../control/deployments/instantiate.ts';
import { statusOf } from '../../../control/deployments/query-status.ts';
import {
  AcceptedCallSchema,
  AppIntentSchema,
  type GroupRecord,
  GroupSchema,
  IntentSchema,
  PlacementIntentSchema,
  StatusAnswerSchema,
  StatusQuerySchema,
  type StoredRecord,
  StoredRecordSchema,
} from '../../../domain/deployments/record-schema.ts';
import { musterError } from '../../../domain/errors.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { DeploymentApi } from './dependencies.ts';
import { NOT_BUILT, REFUSED, refuseAsked } from './not-built.ts';
import { COMPOSITE_APP, GROUP, type Names, paramsOf, recordAt } from './record-paths.ts';
import { type Collection, recordRoutes } from './record-routes.ts';

const tag = 'deployments';
/** What calls of the life cycle are refused with. */
export const BUSY = ['invalid_state', 'context_busy'] as const;
export const INSTANTIATE = [
  ...(['no_placement_intent', 'bad_request', 'logical_cloud_not_ready', 'no_clusters', 'no_such_cluster'] as const),
  ...(['logical_cloud_lacks_clusters', 'label_too_long', 'dependency_cycle'] as const),
];
const PLACEMENT = `${GROUP}/generic-placement-intents/:placement_intent`;

/** Deployment intent groups: their intents and their life cycle. */
export async function groupRoutes(app: ApiServer, deps: DeploymentApi): Promise<void> {
  const groups = { base: `${COMPOSITE_APP}/deployment-intent-groups`, item: '/:group' };
  recordRoutes(app, deps, {
    ...{ kind: 'group', above: COMPOSITE_APP, ...groups, access: 'operator', schema: GroupSchema, tag },
    refuses: [...BUSY, NOT_BUILT],
    add: async (by, parent, given) => {
      checkSettings(given as GroupRecord);
      return addGroup(deps, by, parent, given);
    },
    remove: false,
  });
  app.delete(
    GROUP,
    {
      schema: {
        tags: [tag],
        summary: 'Remove a deployment intent group with its AppContexts',
        params: paramsOf(GROUP),
        querystring: z.object({ cascade: z.boolean().default(false).describe('its intents are removed too') }),
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'quick', refuses: ['not_found', 'has_children', ...BUSY] },
    },
    async ({ params, query }, reply) => {
      await removeGroup(deps, recordAt(GROUP, params), query);
      return reply.code(204).send();
    },
  );

  for (const call of ['approve', 'instantiate', 'terminate', 'stop'] as const) {
    app.post(
      `${GROUP}/${call}`,
      {
        schema: {
          tags: [tag],
          summary: SUMMARIES[call],
          params: paramsOf(GROUP),
          querystring: NOT_YET[call] ?? z.object({}),
          response: { 202: AcceptedCallSchema },
        },
        config: {
          access: 'operator',
          class: 'quick',
          refuses: [
            'not_found',
            ...BUSY,
            ...(call === 'instantiate' ? INSTANTIATE : []),
            ...(call in NOT_YET ? [NOT_BUILT] : []),
          ],
        },
      },
      async (request, reply) => {
        refuseAsked(call, request.query);
        const place = { path: recordAt(GROUP, request.params), compositeApp: recordAt(COMPOSITE_APP, request.params) };
        return reply.code(202).send(await callGroup(deps, acting(request), call, place));
      },
    );
  }

  app.get(
    `${GROUP}/status`,
    {
      schema: {
        tags: [tag],
        summary: 'What is where of a deployment intent group',
        params: paramsOf(GROUP),
        querystring: StatusQuerySchema,
        response: { 200: StatusAnswerSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['not_found', 'bad_request'] },
    },
    ({ params, query }) => statusOf(deps, 'group', recordAt(GROUP, params), query),
  );

  recordRoutes(app, deps, {
    ...intents(deps, 'intent', GROUP),
    ...{ base: `${GROUP}/intents`, item: '/:intent', schema: IntentSchema },
    picked: {
      ...{ parameter: 'intent', text: 'only the intent with this name', answer: StoredRecordSchema },
      of: (all, name) => only(all, name, (each) => each.metadata.name),
    },
  });
  recordRoutes(app, deps, {
    ...intents(deps, 'placement-intent', GROUP),
    ...{ base: `${GROUP}/generic-placement-intents`, item: '/:placement_intent', schema: PlacementIntentSchema },
  });
  recordRoutes(app, deps, {
    ...intents(deps, 'app-intent', PLACEMENT),
    ...{ base: `${PLACEMENT}/app-intents`, item: '/:app_intent', schema: AppIntentSchema },
    picked: {
      ...{ parameter: 'app-name', text: 'only name and intent of this app', answer: AppIntentSchema.shape.spec },
      of: (all, name) => only(all, name, ({ spec }) => spec?.['app-name']).spec,
    },
  });
}

/** Parameters that are described and not built. */
const NOT_YET: { [Call in keyof typeof SUMMARIES]?: z.ZodObject } = {
  instantiate: z.object({ dryRun: REFUSED }),
  terminate: z.object({ keep: REFUSED }),
};

const SUMMARIES = {
  approve: 'Approve a deployment intent group',
  instantiate: 'Bring a deployment intent group to its clusters: apps and places are frozen now',
  terminate: 'Take a deployment intent group off its clusters',
  stop: 'Give up what a deployment intent group still has to do',
} as const;

/** A change of an intent is a change of its group. */
function intents(
  deps: DeploymentApi,
  kind: 'intent' | 'placement-intent' | 'app-intent',
  above: string,
): Pick<Collection, 'kind' | 'above' | 'access' | 'tag' | 'refuses' | 'add' | 'remove'> {
  const groupOf = (names: Names) => recordAt(GROUP, names);
  return {
    ...{ kind, above, access: 'operator', tag, refuses: BUSY },
    add: (by, parent, given, names) => addIntent(deps, by, { kind, parent, group: groupOf(names) }, given),
    remove: (by, path, names) => removeIntent(deps, by, { kind, path, group: groupOf(names) }),
  };
}

function only(all: readonly StoredRecord[], name: string, nameOf: (record: StoredRecord) => unknown): StoredRecord {
  const found = all.find((record) => nameOf(record) === name);
  if (found === undefined) throw musterError('not_found', `'${name}' could not be found`);
  return found;
}
