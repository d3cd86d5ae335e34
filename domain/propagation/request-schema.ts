/** Queries of lists, and small answers, of the model. */
import { z } from 'zod';
import { AFTER_ID_TEXT, NextPageSchema } from '../schema.ts';
import { RESOURCE_STATES } from './item-state.ts';
import { ConnectionSchema, EventFilterSchema, HistoryItemSchema, StagedItemSchema } from './schema.ts';

const name = z.string().max(400);

/** Parameters of every list of this lane. */
export const PageQuerySchema = z.object({
  limit: z.int().min(1).max(10_000).default(1000).describe('Most records of the page.'),
  after_id: z.string().max(400).default('').describe(AFTER_ID_TEXT),
});

export const ResourceListQuerySchema = PageQuerySchema.extend({
  tags: z.string().max(10_000).optional().describe('tag expression, such as `service=web&(zone=a|zone=b)`'),
  state: z
    .enum([...RESOURCE_STATES, ''])
    .optional()
    .describe('only resources in this state'),
  prefix: name.optional().describe('only names that begin so'),
});

export const ResourceDeleteQuerySchema = z.object({
  force: z.boolean().default(false).describe('the record goes at once, and nothing is done on the machine'),
  recursive: z.boolean().default(false).describe('not supported yet'),
});

export const ConnectionListQuerySchema = PageQuerySchema.extend({
  emitter: name.optional().describe('only connections out of this resource'),
  receiver: name.optional().describe('only connections into this resource'),
});

export const ConnectionDeleteQuerySchema = z.object({
  keep_events: z.boolean().default(false).describe('the events that the connection made stay, as events of the user'),
});

export const EventListQuerySchema = PageQuerySchema.extend({
  parent: name.optional().describe('only events of this emitter'),
  child: name.optional().describe('only events of this subscriber'),
  resource: name.optional().describe('only events with this resource at either end'),
  source: name.optional().describe('`user`, or `default:` with the id of a connection'),
});

/** Connections of one pair of resources, all or those of some inputs. */
export const ConnectionDeleteSchema = z
  .strictObject({
    emitter: name,
    receiver: name,
    inputs: z
      .array(name)
      .min(1)
      .max(1_000)
      .optional()
      .describe('inputs of the emitter, `input` or `input|tag|key`; default: every connection of the pair'),
    keep_events: z.boolean().default(false).describe('the events that the connections made stay'),
  })
  .meta({ id: 'PropagationConnectionDelete' });

/** A filter without a condition would remove every event. */
export const EventDeleteSchema = EventFilterSchema.refine(
  (filter) => Object.values(filter).some((value) => value !== undefined),
  { error: 'must have at least one of parent, child, resource and source' },
).meta({ id: 'PropagationEventDelete' });

export const ResourceStageSchema = z
  .strictObject({
    action: z
      .string()
      .max(400)
      .optional()
      .describe('default: `update`, or `run` for a resource that was never committed'),
  })
  .meta({ id: 'PropagationResourceStage' });

export const RemovalSchema = z
  .strictObject({
    name: z.string(),
    removal: z
      .enum(['staged', 'deleted'])
      .describe('`staged`: the resource goes when the removal is committed; `deleted`: the resource is gone'),
  })
  .meta({ id: 'PropagationRemoval' });
export type RemovalView = z.infer<typeof RemovalSchema>;

/** `next` of a page: null, or the parameters of the next page. */
const Next = NextPageSchema.nullable();

export const StagedPageSchema = z.strictObject({ changes: z.array(StagedItemSchema), next: Next });
export const HistoryPageSchema = z.strictObject({ changes: z.array(HistoryItemSchema), next: Next });
export const DisconnectedSchema = z.strictObject({ connections: z.array(ConnectionSchema) });

export const DiscardedSchema = z
  .strictObject({
    changes: z.array(StagedItemSchema.pick({ uid: true, log_action: true, resource: true, action: true })),
  })
  .meta({ id: 'PropagationDiscarded' });
export type DiscardedView = z.infer<typeof DiscardedSchema>;
