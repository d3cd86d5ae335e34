/** Shapes of lane components on the v2 wire, as far as they differ from v3 (cfs-api 6, 13). */
import { z } from 'zod';
import { KEY_MAX, text } from '../schema.ts';
import { v2Shape } from '../v2-schema.ts';
import {
  CONFIGURATION_STATUSES,
  type ComponentBody,
  ComponentBodySchema,
  type ComponentFilterPatch,
  ComponentFilterPatchSchema,
  ComponentListQuerySchema,
  ComponentSchema,
  ComponentViewSchema,
  DesiredLayerSchema,
  StateAppendSchema,
  type StateLayerInput,
  StateLayerInputSchema,
  StateLayerSchema,
} from './schema.ts';
import { joinCommit, splitCommit } from './state-layers.ts';

/** The status of a layer is the suffix of its commit (cfs-api 6.2). */
const V2StateLayer = v2Shape(StateLayerSchema, {
  members: ['clone_url', 'playbook', 'commit', 'session_name', 'last_updated'],
  fold: (layer) => ({ ...layer, commit: joinCommit(layer) }),
});

const V2StateLayerInput = v2Shape(StateLayerInputSchema, {
  members: ['clone_url', 'playbook', 'commit', 'session_name', 'last_updated'],
  change: {
    commit: z
      .string()
      .regex(/^[^_]*(_(applied|failed|skipped))?$/, 'must not have a suffix other than applied, failed, skipped'),
  },
  read(layer): StateLayerInput {
    const { commit, status } = splitCommit(layer.commit);
    return { ...layer, commit, status: status === 'failed' || status === 'skipped' ? status : 'applied' };
  },
});

const V2StateAppend = v2Shape(StateAppendSchema, {
  members: ['clone_url', 'playbook', 'commit', 'session_name', 'last_updated'],
});

const body = {
  members: [
    'id',
    'state',
    'state_append',
    'desired_config',
    'error_count',
    'retry_policy',
    'enabled',
    'tags',
    'desired_state',
    'configuration_status',
  ],
  change: { desired_config: text(0, KEY_MAX).optional() },
  inner: { state: V2StateLayerInput, state_append: V2StateAppend },
} as const;

/** Body of PUT and PATCH of one component. */
export const V2ComponentBody = v2Shape(ComponentBodySchema, { ...body, ids: { input: 'ComponentBodyV2' } });

/** A component in answers of PUT and PATCH. */
export const V2Component = v2Shape(ComponentSchema, {
  members: ['id', 'state', 'desired_config', 'error_count', 'retry_policy', 'enabled', 'tags'],
  inner: { state: V2StateLayer },
  ids: { object: 'ComponentV2' },
});

const V2DesiredLayer = v2Shape(DesiredLayerSchema, { members: ['clone_url', 'playbook', 'commit'] });

/** A component in answers of GET. */
export const V2ComponentView = v2Shape(ComponentViewSchema, {
  members: [
    'id',
    'state',
    'desired_config',
    'error_count',
    'retry_policy',
    'enabled',
    'tags',
    'configuration_status',
    'desired_state',
  ],
  inner: { state: V2StateLayer, desired_state: V2DesiredLayer },
  ids: { object: 'ComponentViewV2' },
});

/** Empty text is no status in v2 (cfs-api 3). */
const status = z.enum(CONFIGURATION_STATUSES).optional();
const config_details = z
  .boolean()
  .optional()
  .describe('Whether `desiredState` is shown: the layers of the desired configuration.');

/** Query of GET /v2/components; v2 always shows the state, and has no pages. */
export const V2ComponentListQuery = v2Shape(ComponentListQuerySchema, {
  members: ['ids', 'status', 'enabled', 'config_name', 'tags', 'config_details'],
  change: { status: status.describe('Only records with this status. An empty text filters nothing.'), config_details },
  read: (query) => ({ ...query, state_details: true }),
});

/** Query of GET /v2/components/{id}. */
export const V2ComponentDetails = v2Shape(ComponentListQuerySchema, {
  members: ['config_details'],
  change: { config_details },
  read: (query) => ({ ...query, state_details: true }),
});

const FilterPatch = ComponentFilterPatchSchema.shape;

/** Body of PATCH /v2/components, of either form; filters may be spelt as in v3 (cfs-api 6.4). */
export const V2ComponentPatchesSchema: z.ZodType<ComponentBody[] | ComponentFilterPatch> = z.union([
  z.array(V2ComponentBody.input),
  ComponentFilterPatchSchema.extend({
    patch: v2Shape(FilterPatch.patch, body).input,
    filters: FilterPatch.filters.extend({ status }),
  }),
]);
