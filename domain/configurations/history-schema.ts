/** Shapes of what became of one configuration: its versions, what two of them differ in, and what uses it. Times are ISO with ms and Z. */
import { z } from 'zod';
import { AFTER_ID_TEXT, LIMIT_TEXT, NextPageSchema } from '../schema.ts';
import { AdditionalInventorySchema, ConfigurationMusterSchema, StoredLayerSchema } from './schema.ts';

/** A version that is not older than the configuration as it stands. */
export const CURRENT_VERSION = 'current';
/** The version before the oldest change that is kept: who wrote it, and when, is not known. */
export const EARLIEST_VERSION = 'earliest';

/** How a version came to be; `unknown`: before what is kept. */
const VERSION_ACTIONS = ['create', 'update', 'delete', 'unknown'] as const;
export type VersionAction = (typeof VERSION_ACTIONS)[number];

const InventorySchema = AdditionalInventorySchema.extend({ name: z.string().optional() });

export const ConfigurationVersionSchema = z
  .strictObject({
    id: z.string().describe('Names the version in `from` and `to` of a diff.'),
    version: z
      .string()
      .nullable()
      .describe('Commits and playbooks of all layers, as rollouts name them; null where the layers are not known.'),
    time: z.string().nullable().describe('When it was written; null where that is not known.'),
    actor: z.string().nullable().describe('Who wrote it; null where nobody is known.'),
    reason: z.string().nullable().describe('Why, in the words of who asked; null where nothing was said.'),
    action: z
      .enum(VERSION_ACTIONS)
      .describe('How it came to be. `delete`: there was no configuration then. `unknown`: before the oldest change.'),
    layers: z
      .array(StoredLayerSchema)
      .nullable()
      .describe('Its layers; null where there was no configuration, or where they were too large to be kept.'),
    description: z.string().optional(),
    additional_inventory: InventorySchema.optional(),
    tenant_name: z.string().optional(),
    muster: ConfigurationMusterSchema.optional(),
    not_kept: z.array(z.string()).describe('Members that were too large for the audit.'),
  })
  .meta({ id: 'ConfigurationVersion' });
export type ConfigurationVersion = z.infer<typeof ConfigurationVersionSchema>;

export const ConfigurationHistorySchema = z
  .strictObject({
    versions: z.array(ConfigurationVersionSchema).describe('The newest first.'),
    reaches_back_to: z
      .string()
      .nullable()
      .describe('Time of the oldest change that the audit still has; null where it has none.'),
    next: NextPageSchema.nullable().describe('Parameters of the next page; null: this is the last.'),
  })
  .meta({ id: 'ConfigurationHistory' });
export type ConfigurationHistory = z.infer<typeof ConfigurationHistorySchema>;

/** Id of a change of the audit: milliseconds since 1970 and a number. */
const CHANGE_ID = /^[0-9]{1,13}-[0-9]{1,18}$/;

export const ConfigurationHistoryQuerySchema = z.object({
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z
    .string()
    .refine((value) => value === '' || CHANGE_ID.test(value), { error: 'must be the after_id of a page before' })
    .default('')
    .describe(AFTER_ID_TEXT),
});
export type ConfigurationHistoryQuery = z.infer<typeof ConfigurationHistoryQuerySchema>;

const versionId = z.string().refine((id) => [CURRENT_VERSION, EARLIEST_VERSION].includes(id) || CHANGE_ID.test(id), {
  error: `must be the id of a version, or ${CURRENT_VERSION}`,
});
export const ConfigurationDiffQuerySchema = z.object({
  from: versionId.describe('Id of a version.'),
  to: versionId.default(CURRENT_VERSION).describe('Id of a version, or `current`.'),
});
export type ConfigurationDiffQuery = z.infer<typeof ConfigurationDiffQuerySchema>;

const MemberDiffSchema = z
  .strictObject({
    member: z.string(),
    before: z.unknown().describe('Null: it had none.'),
    after: z.unknown().describe('Null: it has none.'),
  })
  .meta({ id: 'MemberDiff' });
export type MemberDiff = z.infer<typeof MemberDiffSchema>;

const LayerDiffSchema = z
  .strictObject({
    from: z.int().nullable().describe('Its index before; null: it was added.'),
    to: z.int().nullable().describe('Its index after; null: it was removed.'),
    moved: z.boolean().describe('Whether it stands elsewhere among the layers that stayed.'),
    title: z.string().describe('Its name, else its repository, and its playbook.'),
    members: z.array(MemberDiffSchema).describe('What of it changed.'),
  })
  .meta({ id: 'LayerDiff' });
export type LayerDiff = z.infer<typeof LayerDiffSchema>;

export const ConfigurationDiffSchema = z
  .strictObject({
    from: z.string(),
    to: z.string(),
    layers: z.array(LayerDiffSchema).describe('All layers: those of `to` in their order, and those that were removed.'),
    members: z.array(MemberDiffSchema).describe('What changed beside the layers.'),
    not_kept: z.array(z.string()).describe('Members that cannot be compared: they were too large for the audit.'),
  })
  .meta({ id: 'ConfigurationDiff' });
export type ConfigurationDiff = z.infer<typeof ConfigurationDiffSchema>;

/** Names that are listed of a kind of users at most. */
export const LISTED_USERS = 20;

const UsersSchema = z.strictObject({
  count: z.int().min(0),
  names: z.array(z.string()).describe('The first of them.'),
});
const count = z.int().min(0);

export const ConfigurationUsageSchema = z
  .strictObject({
    exists: z.boolean().describe('Whether there is such a configuration. What is deleted may still be desired.'),
    components: z
      .strictObject({
        total: count,
        disabled: count,
        by_status: z.strictObject({ configured: count, pending: count, failed: count, unconfigured: count }),
      })
      .describe('Components that desire it.'),
    schedules: UsersSchema.describe('Schedules that name it.'),
    sessions: UsersSchema.describe('Its sessions that have not ended.'),
  })
  .meta({ id: 'ConfigurationUsage' });
export type ConfigurationUsage = z.infer<typeof ConfigurationUsageSchema>;
