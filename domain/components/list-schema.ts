/** Shapes of Muster's own list of components. */
import { z } from 'zod';
import { AFTER_ID_TEXT, LIMIT_TEXT, NextPageSchema, TagsSchema } from '../schema.ts';
import { CONFIGURATION_STATUSES, ComponentListQuerySchema, DesiredLayerSchema, StateLayerSchema } from './schema.ts';
import { DriftSchema, FailureSchema, HostsSchema, TextInIdSchema } from './selection-schema.ts';

/** Names without a component that an answer shows. */
export const SHOWN_UNKNOWN = 20;

const { ids, status, enabled, config_name, tags } = ComponentListQuerySchema.shape;

/** Query of GET /api/v1/components; empty texts filter nothing. */
export const ComponentItemsQuerySchema = z.object({
  ids,
  status,
  enabled,
  config_name,
  tags,
  hosts: HostsSchema.optional(),
  text: TextInIdSchema.optional(),
  failure: FailureSchema.optional(),
  drift: DriftSchema.optional(),
  changed_since: z.iso.datetime().optional().describe('Only components whose record changed after this time.'),
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z.string().default('').describe(AFTER_ID_TEXT),
  count: z.boolean().optional().describe('Whether to count all that match, in `total`.'),
  format: z
    .enum(['json', 'csv'])
    .default('json')
    .describe('`csv`: all that match as a file, without pages; `limit`, `after_id` and `count` say nothing then.'),
});
export type ComponentItemsQuery = z.infer<typeof ComponentItemsQuerySchema>;

const SessionSchema = z
  .strictObject({ id: z.uuid(), name: z.string() })
  .nullable()
  .describe('The session that has the component now.');

/** One row of the list. */
export const ComponentItemSchema = z
  .strictObject({
    id: z.string(),
    status: z.enum(CONFIGURATION_STATUSES),
    why: z.string().describe('Why it has this status, in a few words.'),
    enabled: z.boolean(),
    desired_config: z.string().describe('The configuration that it is to have; empty for none.'),
    error_count: z.int(),
    tags: TagsSchema,
    session: SessionSchema,
    updated_at: z.iso.datetime().describe('When its record changed last.'),
  })
  .meta({ id: 'ComponentItem' });
export type ComponentItem = z.infer<typeof ComponentItemSchema>;

/** Answer of GET /api/v1/components. */
export const ComponentItemsSchema = z
  .object({
    components: z.array(ComponentItemSchema),
    next: NextPageSchema.nullable(),
    total: z.int().optional().describe('How many match, where `count` asks for it: exact up to 100,000.'),
    more: z.boolean().optional().describe('True where more match than `total` says.'),
    unknown: z
      .array(z.string())
      .optional()
      .describe(`Names of \`hosts\` that no component has, the first ${SHOWN_UNKNOWN} of them; on the first page.`),
  })
  .meta({ id: 'ComponentItems' });
export type ComponentItems = z.infer<typeof ComponentItemsSchema>;

/** Answer of GET /api/v1/components/{id}. */
export const ComponentDetailSchema = ComponentItemSchema.extend({
  desired: z.array(DesiredLayerSchema).describe('Layers of the desired configuration, each with its own status.'),
  reached: z.array(StateLayerSchema).describe('What playbooks reached on it.'),
  retry_policy: z.int().describe('Tries of a configuration, its own or those of the option; -1 for no end.'),
  changed_by: z.string().nullable().describe('Who changed its record last; null where nobody is known.'),
}).meta({ id: 'ComponentDetail' });
export type ComponentDetail = z.infer<typeof ComponentDetailSchema>;
