/** Shapes of lane configurations on the v3 wire: configurations, layers, sources, options (cfs-api 5, 11, 12). */

import { z } from 'zod';
import {
  AFTER_ID_TEXT,
  atMost,
  KEY_MAX,
  LIMIT_TEXT,
  NO_BLANK,
  NO_BLANK_MESSAGE,
  readOnly,
  TagsSchema,
  TEXT_MAX,
  text,
  word,
} from '../schema.ts';

const CommitSchema = z.string().regex(/^[a-f0-9]{40}$/, 'must be 40 hexadecimal digits');

export const LayerSchema = z
  .strictObject({
    name: text(1, 45).optional(),
    clone_url: word.optional(),
    source: text(0, KEY_MAX).optional(),
    playbook: word,
    commit: CommitSchema.optional(),
    branch: word.optional(),
    special_parameters: z.strictObject({ ims_require_dkms: z.boolean().optional() }).optional(),
  })
  .meta({ id: 'LayerBody' });

/**
 * A layer as it is stored: version 2 takes one without playbook, which means option `default_playbook`, and any text as its
 * name.
 */
export const StoredLayerSchema = LayerSchema.extend({ name: z.string().optional(), playbook: word.optional() }).meta({
  id: 'Layer',
});
export type Layer = z.infer<typeof StoredLayerSchema>;

export const AdditionalInventorySchema = z
  .strictObject({
    name: text(1, 45).optional(),
    clone_url: word.optional(),
    source: text(0, KEY_MAX).optional(),
    commit: CommitSchema.optional(),
    branch: word.optional(),
  })
  .meta({ id: 'AdditionalInventoryBody' });
export type AdditionalInventory = z.infer<typeof AdditionalInventorySchema>;

export const ConfigurationNameSchema = text(1, 60);

const PERCENT_MESSAGE = 'must be a number of components or a percentage such as 10%';
const share = (pattern: RegExp, minimum: number) =>
  z.union([z.int().min(minimum), z.string().regex(pattern, PERCENT_MESSAGE)]);

/** Members that say which components are canaries. */
const CHOICES = ['ids', 'tags', 'group'] as const;

/**
 * The components that go first: so many of all, or just those that are named by id, have all these tags, or are in the group that a
 * tag makes. `count` absent: all of them.
 */
const ChosenCanarySchema = z
  .strictObject({
    count: z.int().min(1).optional(),
    ids: z
      .array(text(1, KEY_MAX))
      .min(1)
      .max(1_000)
      .refine((ids) => new Set(ids).size === ids.length, { error: 'must name each component once' })
      .optional(),
    tags: TagsSchema.refine((tags) => Object.keys(tags).length > 0, { error: 'must have a tag' }).optional(),
    group: z
      .string()
      .regex(/^[A-Za-z0-9_]{1,300}$/, 'must be a group as a tag k=v makes it: k_v, of letters, digits and _')
      .optional(),
  })
  .refine((chosen) => CHOICES.filter((choice) => chosen[choice] !== undefined).length === 1, {
    error: 'must have one of ids, tags and group; a number alone needs no object',
  })
  .refine(({ count, ids }) => count === undefined || ids === undefined || count <= ids.length, {
    error: 'must not be more than there are ids',
    path: ['count'],
  });
const CanarySchema = z.union([z.int().min(1), ChosenCanarySchema]);
export type Canary = z.infer<typeof CanarySchema>;

/**
 * How a change of the configuration goes over its components: at most so many at a time (absent: no limit), so many first as the
 * canary, and stopped when more than so many have failed (absent: not stopped).
 */
export const RolloutPolicySchema = z.strictObject({
  max_at_once: share(/^(?:100|[1-9][0-9]?)%$/, 1).optional(),
  canary: CanarySchema.optional(),
  max_failed: share(/^(?:100|[1-9]?[0-9])%$/, 0).optional(),
});
export type RolloutPolicy = z.infer<typeof RolloutPolicySchema>;

/** Members that CFS does not know. */
export const ConfigurationMusterSchema = z.strictObject({ rollout: RolloutPolicySchema.optional() });

/** How many layers a configuration has. */
export const LAYERS_MOST = { entries: 500, bytes: 256 * 1024 };

/** Body of PUT /v3/configurations/{id}. */
export const ConfigurationBodySchema = z
  .strictObject({
    description: text(0, TEXT_MAX).optional(),
    layers: atMost(z.array(LayerSchema), LAYERS_MOST),
    additional_inventory: AdditionalInventorySchema.optional(),
    tenant_name: text(0, KEY_MAX).optional(),
    muster: ConfigurationMusterSchema.optional(),
    name: readOnly,
    last_updated: readOnly,
  })
  .meta({ id: 'ConfigurationBody' });

/** A configuration as it is stored and answered. */
export const ConfigurationSchema = ConfigurationBodySchema.extend({
  name: z.string(),
  last_updated: z.string(),
  layers: z.array(StoredLayerSchema),
  additional_inventory: AdditionalInventorySchema.extend({ name: z.string().optional() }).optional(),
}).meta({ id: 'Configuration' });
export type Configuration = z.infer<typeof ConfigurationSchema>;
/** What a PUT of either version asks for. */
export type ConfigurationBody = Omit<Configuration, 'name' | 'last_updated'>;

const CaCertSchema = z.strictObject({
  configmap_name: text(1, KEY_MAX),
  configmap_namespace: text(0, KEY_MAX).optional(),
});

export const SourceSchema = z
  .strictObject({
    name: z.string().min(1),
    description: z.string().optional(),
    last_updated: z.string(),
    clone_url: z.string().min(1),
    credentials: z.strictObject({ authentication_method: z.literal('password'), secret_name: z.string() }),
    ca_cert: CaCertSchema.nullable(),
  })
  .meta({ id: 'Source' });
export type Source = z.infer<typeof SourceSchema>;

export const SourceNameSchema = text(1, KEY_MAX);

export const SourceCreateSchema = z
  .strictObject({
    name: SourceNameSchema.optional(),
    description: text(0, TEXT_MAX).optional(),
    clone_url: text(1, TEXT_MAX),
    credentials: z.strictObject({
      authentication_method: z.literal('password').optional(),
      username: text(1, TEXT_MAX),
      password: text(1, 65_536),
      secret_name: readOnly,
    }),
    ca_cert: CaCertSchema.nullable().optional(),
    last_updated: readOnly,
  })
  .meta({ id: 'SourceCreate' });
export type SourceCreate = z.infer<typeof SourceCreateSchema>;

export const SourceRestoreSchema = z
  .strictObject({
    description: text(0, TEXT_MAX).optional(),
    clone_url: text(1, TEXT_MAX),
    credentials: z.strictObject({ authentication_method: z.literal('password'), secret_name: text(1, KEY_MAX) }),
    ca_cert: CaCertSchema.nullable().optional(),
    name: readOnly,
    last_updated: readOnly,
  })
  .meta({ id: 'SourceRestore' });
export type SourceRestore = z.infer<typeof SourceRestoreSchema>;

export const SourcePatchSchema = z
  .strictObject({
    description: text(0, TEXT_MAX).optional(),
    clone_url: text(1, TEXT_MAX).optional(),
    credentials: z
      .strictObject({
        authentication_method: z.literal('password').optional(),
        username: text(1, TEXT_MAX).optional(),
        password: text(1, 65_536).optional(),
        secret_name: readOnly,
      })
      .optional(),
    ca_cert: CaCertSchema.nullable().optional(),
    name: readOnly,
    last_updated: readOnly,
  })
  .meta({ id: 'SourcePatch' });
export type SourcePatch = z.infer<typeof SourcePatchSchema>;

/** Ages and times to live: digits and a unit, or empty (cfs-api 5, 10). */
export const AgeSchema = z
  .string()
  .max(10)
  .regex(/^(?:[0-9]+[mMhHdDwW]){0,1}$/, 'must be digits and one of m, h, d, w, or empty');

const LOGGING_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR'] as const;
const INVENTORY_SCOPES = ['limit', 'all'] as const;
export type InventoryScope = (typeof INVENTORY_SCOPES)[number];

const integer = (minimum: number) => z.int().min(minimum);

/** Names of Secrets and ConfigMaps follow Kubernetes, where they live in a cluster. */
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The one record of options, v3 names, complete (cfs-api 5; the last five are Muster's own). */
export const OptionsSchema = z
  .strictObject({
    hardware_sync_interval: integer(1),
    batcher_check_interval: integer(1),
    batch_size: integer(1),
    batch_window: integer(0),
    default_batcher_retry_policy: integer(0),
    default_playbook: word.refine((value) => value !== '', { error: 'must name a playbook' }),
    default_ansible_config: text(0, 60).regex(DNS_SUBDOMAIN, "must be the name of a ConfigMap with 'ansible.cfg'"),
    session_ttl: AgeSchema,
    additional_inventory_url: text(0, 240).regex(NO_BLANK, NO_BLANK_MESSAGE),
    additional_inventory_source: text(0, 60),
    batcher_max_backoff: integer(0),
    batcher_disable: z.boolean(),
    batcher_pending_timeout: integer(1),
    logging_level: z.enum(LOGGING_LEVELS),
    default_page_size: integer(1),
    debug_wait_time: integer(0),
    include_ara_links: z.boolean(),
    max_running_sessions: integer(0),
    session_timeout: integer(0),
    allow_overlap: z.boolean(),
    allow_partial_inventory: z.boolean(),
    inventory_scope: z.enum(INVENTORY_SCOPES),
  })
  .meta({ id: 'MusterOptions' });
export type Options = z.infer<typeof OptionsSchema>;

/** Options that CFS does not know. */
export const OWN_OPTIONS = [
  'max_running_sessions',
  'session_timeout',
  'allow_overlap',
  'allow_partial_inventory',
  'inventory_scope',
] as const satisfies (keyof Options)[];

/** The options as CFS answers them: its description allows no others. */
export const CfsOptionsSchema = OptionsSchema.omit({
  max_running_sessions: true,
  session_timeout: true,
  allow_overlap: true,
  allow_partial_inventory: true,
  inventory_scope: true,
}).meta({ id: 'Options' });

/** Body of PATCH /v3/options: any members but the read-only `default_playbook`. */
export const OptionsPatchSchema = OptionsSchema.partial()
  .extend({ default_playbook: readOnly })
  .meta({ id: 'OptionsPatch' });
export type OptionsPatch = z.infer<typeof OptionsPatchSchema>;

/** Query of the lists of configurations and sources. */
export const InUseListQuerySchema = z.object({
  in_use: z.boolean().optional().describe('Only records that are in use, or only those that are not.'),
  limit: z.int().min(1).optional().describe(LIMIT_TEXT),
  after_id: z.string().optional().describe(AFTER_ID_TEXT),
});
export type InUseListQuery = z.infer<typeof InUseListQuerySchema>;
