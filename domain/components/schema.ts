/** Shapes of lane components on the v3 wire (cfs-api 6). */

import { z } from 'zod';
import { StoredLayerSchema } from '../configurations/schema.ts';
import { AFTER_ID_TEXT, KEY_MAX, LIMIT_TEXT, readOnly, TagsSchema, text } from '../schema.ts';

export const LAYER_STATES = ['applied', 'failed', 'skipped', 'incomplete'] as const;
export type LayerState = (typeof LAYER_STATES)[number];
const WRITABLE_LAYER_STATES = ['applied', 'failed', 'skipped'] as const;
export const CONFIGURATION_STATUSES = ['unconfigured', 'failed', 'pending', 'configured'] as const;
export type ConfigurationStatus = (typeof CONFIGURATION_STATUSES)[number];

/** A stored and returned entry of `state`: what one layer's playbook reached on the component. */
export const StateLayerSchema = z
  .strictObject({
    clone_url: z.string(),
    playbook: z.string(),
    commit: z.string(),
    status: z.enum(LAYER_STATES),
    session_name: z.string(),
    last_updated: z.string(),
  })
  .meta({ id: 'StateLayer' });
export type StateLayer = z.infer<typeof StateLayerSchema>;

/** An entry of `state` in a request; `last_updated` is the server's. */
export const StateLayerInputSchema = z
  .strictObject({
    clone_url: z.string(),
    playbook: z.string(),
    commit: z.string(),
    status: z.enum(WRITABLE_LAYER_STATES),
    session_name: z.string(),
    last_updated: readOnly,
  })
  .meta({ id: 'StateLayerBody' });
export type StateLayerInput = z.infer<typeof StateLayerInputSchema>;

/**
 * `state_append` in a request: `commit` may carry a status suffix, which wins over `status` (cfs-api 6.2). A report without
 * repository, playbook or commit, or with another suffix, says nothing and is refused (cfs-api 6.1).
 */
export const StateAppendSchema = z
  .strictObject({
    clone_url: z.string(),
    playbook: z.string(),
    commit: z
      .string()
      .regex(
        /^[^_]*(_(applied|failed|skipped|incomplete))?$/,
        `must not have a suffix other than ${LAYER_STATES.join(', ')}`,
      ),
    status: z.enum(WRITABLE_LAYER_STATES).optional(),
    session_name: z.string().optional(),
    last_updated: readOnly,
  })
  .meta({ id: 'StateAppend' });
export type StateAppend = z.infer<typeof StateAppendSchema>;

/** Members that CFS does not know: `boot` is which boot of the machine the state is of, of its reporter's choice (cfs-flows 8.13). */
export const ComponentMusterSchema = z.strictObject({
  boot: text(1, 128).regex(/^[ -~]*$/, 'must have printable ASCII characters only'),
});

/** A component as stored. Status is never stored: it is computed when read (cfs-api 7). */
export const ComponentSchema = z
  .strictObject({
    id: z.string().min(1),
    state: z.array(StateLayerSchema),
    desired_config: z.string(),
    error_count: z.int(),
    retry_policy: z.int().optional(),
    enabled: z.boolean(),
    tags: TagsSchema,
    muster: ComponentMusterSchema.optional(),
  })
  .meta({ id: 'Component' });
export type Component = z.infer<typeof ComponentSchema>;

/** Body of PUT and PATCH of one component; a patch takes any subset, a PUT fills what is absent (cfs-api 6.3). */
export const ComponentBodySchema = z
  .strictObject({
    id: text(1, KEY_MAX).optional(),
    state: z.array(StateLayerInputSchema).optional(),
    state_append: StateAppendSchema.optional(),
    desired_config: text(0, 60).optional(),
    error_count: z.int().optional(),
    retry_policy: z.int().optional(),
    enabled: z.boolean().optional(),
    tags: TagsSchema.optional(),
    muster: ComponentMusterSchema.optional(),
    desired_state: readOnly,
    configuration_status: readOnly,
    logs: readOnly,
  })
  .meta({ id: 'ComponentBody' });
export type ComponentBody = z.infer<typeof ComponentBodySchema>;

/** Body of POST /api/v1/components/reset-errors. */
export const ResetErrorsSchema = z.strictObject({
  ids: z.array(text(1, KEY_MAX)).min(1).max(10_000).describe('components whose errors are forgotten'),
});

/** Empty text filters nothing: clients feed `next` back as it came (cfs-api 3). */
const StatusFilterSchema = z.enum([...CONFIGURATION_STATUSES, '']);

const filters = {
  /** Room for the ids, or the tags, of 100,000 components. */
  ids: text(0, 4 * 1024 * 1024).optional(),
  status: StatusFilterSchema.optional(),
  enabled: z.boolean().optional(),
  config_name: z.string().optional(),
  tags: text(0, 4 * 1024 * 1024).optional(),
};

/** Which components a list or a patch by filter means; all given members must match (cfs-api 6.4, 6.5). */
export const ComponentFilterSchema = z.object(filters);
export type ComponentFilter = z.infer<typeof ComponentFilterSchema>;

/** Query of GET /v3/components. */
export const ComponentListQuerySchema = ComponentFilterSchema.extend({
  ids: filters.ids.describe('Only these components: ids with commas between them.'),
  status: filters.status.describe('Only records with this status. An empty text filters nothing.'),
  enabled: filters.enabled.describe('Only components that are enabled, or only those that are not.'),
  config_name: filters.config_name.describe('Only components that desire this configuration.'),
  tags: filters.tags.describe('Only records with all these tags: `key=value` with commas between them.'),
  state_details: z.boolean().optional().describe('Whether `state` is shown.'),
  config_details: z
    .boolean()
    .optional()
    .describe('Whether `desired_state` is shown: the layers of the desired configuration, each with its status.'),
  limit: z.int().min(1).optional().describe(LIMIT_TEXT),
  after_id: z.string().optional().describe(AFTER_ID_TEXT),
});
export type ComponentListQuery = z.infer<typeof ComponentListQuerySchema>;

/**
 * The filters in a body, in either spelling. Unknown ones are refused, unlike in CFS, which ignores them and then changes more than
 * was meant.
 */
const PatchFiltersSchema = z.strictObject(
  { ...filters, configName: z.string().optional() },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `There is no filter ${issue.keys
            .map((key) => `'${key.slice(0, 100)}'`)
            .slice(0, 10)
            .join(', ')}: known are ${Object.keys(filters).join(', ')}`
        : undefined,
  },
);

/** The filter form of PATCH /v3/components; members beside these two are ignored. */
export const ComponentFilterPatchSchema = z
  .object({
    patch: ComponentBodySchema.extend({ id: z.string().optional() }),
    filters: PatchFiltersSchema,
  })
  .meta({ id: 'ComponentFilterPatch' });
export type ComponentFilterPatch = z.infer<typeof ComponentFilterPatchSchema>;

/** Entry of `desired_state`: a layer of the desired configuration with its own status. */
export const DesiredLayerSchema = StoredLayerSchema.extend({ status: z.enum(CONFIGURATION_STATUSES) }).meta({
  id: 'DesiredLayer',
});
export type DesiredLayer = z.infer<typeof DesiredLayerSchema>;

/** A component in answers of GET: with what is computed, and details as far as they were asked for. */
export const ComponentViewSchema = ComponentSchema.partial({ state: true })
  .extend({
    configuration_status: z.enum(CONFIGURATION_STATUSES),
    desired_state: z.array(DesiredLayerSchema).optional(),
    logs: z.string().optional(),
  })
  .meta({ id: 'ComponentView' });
export type ComponentView = z.infer<typeof ComponentViewSchema>;
