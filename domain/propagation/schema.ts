/** What is sent and answered about the model: repositories, resources, connections, events, changes. */
import { z } from 'zod';
import { KEY_MAX } from '../schema.ts';
import { EVENT_POLICIES } from './default-events.ts';
import { HANDLERS } from './definition-schema.ts';
import { CONDITIONS, EVENT_TYPES, GivenEventSchema } from './event-schema.ts';
import { COMMITTED_STATES, ITEM_STATES, RESOURCE_STATES } from './item-state.ts';

const Inputs = z.record(z.string(), z.unknown());
const Tags = z.array(z.string().max(500)).max(200);
/** `[op, path, payload]` */
const Diff = z.array(
  z.tuple([z.enum(['add', 'remove', 'change']), z.array(z.union([z.string(), z.number()])), z.array(z.unknown())]),
);
const Time = z.string().describe('UTC');

export const RepositorySchema = z
  .strictObject({
    name: z.string(),
    kind: z.enum(['uploaded', 'git', 'shipped']),
    state: z.enum(['ready', 'syncing', 'synced', 'failed']),
    definitions: z.record(z.string(), z.array(z.string())).optional().describe('versions of each definition'),
    created_at: Time.nullable().describe('null for the repository that comes with Muster'),
    url: z.string().optional().describe('of a repository that is read from git, as are all that follow'),
    ref: z.string().nullable().optional().describe('branch, tag or commit; null for the default branch'),
    path: z.string().optional().describe('folder below which definitions are looked for'),
    source: z.string().nullable().optional().describe('source with credentials and CA'),
    commit: z.string().nullable().optional().describe('what the last sync that succeeded has taken in'),
    synced_at: Time.nullable().optional().describe('end of the last sync that succeeded'),
    code: z.string().nullable().optional().describe('what the last sync failed with; null after a success'),
    reason: z.string().nullable().optional().describe('why the last sync failed'),
  })
  .meta({ id: 'PropagationRepository' });
export type RepositoryView = z.infer<typeof RepositorySchema>;

export const RepositoryCreateSchema = z
  .strictObject({
    name: z.string(),
    url: z.string().min(1).max(2_000).optional().describe('address of a git repository that has the definitions'),
    ref: z.string().min(1).max(1_000).optional().describe('branch, tag or commit; default: the default branch'),
    path: z.string().max(1_024).optional().describe('folder below which definitions are looked for'),
    source: z.string().min(1).max(KEY_MAX).optional().describe('source with credentials and CA for the address'),
  })
  .meta({ id: 'PropagationRepositoryCreate' });

export const DefinitionPutSchema = z
  .strictObject({
    files: z
      .record(z.string(), z.union([z.string(), z.strictObject({ base64: z.string() })]))
      .describe('text, or bytes in base64, by path'),
    overwrite: z.boolean().default(false).describe('takes the place of other content while no resource uses it'),
  })
  .meta({ id: 'PropagationDefinitionPut' });

export const DefinitionSchema = z
  .strictObject({
    repository: z.string(),
    name: z.string(),
    version: z.string(),
    hash: z.string().describe('of the whole content'),
    handler: z.enum(HANDLERS),
    actions: z.record(z.string(), z.unknown()),
    inputs: z.record(z.string(), z.unknown()),
    tags: z.array(z.string()),
    type_limit: z.number().nullable(),
    files: z.array(z.string()),
  })
  .meta({ id: 'PropagationDefinition' });
export type DefinitionView = z.infer<typeof DefinitionSchema>;

export const ConnectionSchema = z
  .strictObject({
    id: z.string(),
    emitter: z.string(),
    emitter_input: z.string(),
    receiver: z.string(),
    receiver_input: z.string(),
    key: z.string().nullable().describe('member of an object that is filled; null for the whole input'),
  })
  .meta({ id: 'PropagationConnection' });
export type ConnectionView = z.infer<typeof ConnectionSchema>;

const CommittedSchema = z.strictObject({
  inputs: Inputs,
  connections: z.array(z.array(z.string())),
  tags: z.array(z.string()),
  base_path: z.string(),
  state: z.enum(COMMITTED_STATES),
});

export const ResourceSchema = z
  .strictObject({
    name: z.string(),
    definition: z.strictObject({ repository: z.string(), name: z.string(), version: z.string() }),
    handler: z.enum(HANDLERS),
    actions: z.array(z.string()),
    state: z.enum(RESOURCE_STATES),
    tags: z.array(z.string()),
    inputs: Inputs.describe('own values'),
    updated: z.number().describe('grows with each change'),
  })
  .meta({ id: 'PropagationResource' });
export type ResourceView = z.infer<typeof ResourceSchema>;

export const ResourceDetailSchema = ResourceSchema.extend({
  resolved: Inputs.describe('values along the connections'),
  sources: z.array(ConnectionSchema).describe('connections into the resource'),
  mistakes: z.record(z.string(), z.array(z.string())).describe('what does not fit, by input'),
  committed: CommittedSchema.nullable().describe('what the machine is believed to have; null before the first commit'),
}).meta({ id: 'PropagationResourceDetail' });
export type ResourceDetail = z.infer<typeof ResourceDetailSchema>;

export const ResourceCreateSchema = z
  .strictObject({
    name: z.string(),
    from: z.string().describe('[repository/]name[:[op]version] of its definition'),
    inputs: Inputs.optional(),
    tags: Tags.optional(),
  })
  .meta({ id: 'PropagationResourceCreate' });
export const ResourcePatchSchema = z.strictObject({ inputs: Inputs }).meta({ id: 'PropagationResourcePatch' });
export const TagsSchema = z.strictObject({ tags: Tags }).meta({ id: 'PropagationTags' });

const Mapping = z.union([
  z.array(z.string()).max(1_000),
  z.record(z.string(), z.union([z.string(), z.array(z.string()).max(1_000)])),
]);

export const ConnectionCreateSchema = z
  .strictObject({
    emitter: z.string(),
    receiver: z.string(),
    mapping: Mapping.optional().describe('names of inputs, or a map from an input to one or more addresses'),
    events: z
      .union([z.enum(EVENT_POLICIES), z.array(GivenEventSchema).max(10_000)])
      .optional()
      .describe(
        'which events it makes, or a list of events in their place; default: setting MUSTER_CONNECTION_EVENTS (full)',
      ),
  })
  .meta({ id: 'PropagationConnectionCreate' });

export const EventSchema = z
  .strictObject({
    id: z.string(),
    type: z.enum(EVENT_TYPES),
    parent: z.string(),
    parent_action: z.string(),
    on: z.enum(CONDITIONS),
    child: z.string(),
    child_action: z.string(),
    source: z.string().describe('`user`, or `default:` with the connection that made it'),
    text: z.string(),
  })
  .meta({ id: 'PropagationStoredEvent' });
export type EventView = z.infer<typeof EventSchema>;

export const ConnectedSchema = z
  .strictObject({
    connections: z.array(ConnectionSchema),
    events: z.array(EventSchema),
  })
  .meta({ id: 'PropagationConnected' });

export const EventFilterSchema = z.strictObject({
  parent: z.string().optional().describe('emitter'),
  child: z.string().optional().describe('subscriber'),
  resource: z.string().optional().describe('either end'),
  source: z.string().optional(),
});

export const StagedItemSchema = z
  .strictObject({
    uid: z.string(),
    log_action: z.string(),
    resource: z.string(),
    action: z.string(),
    diff: Diff,
    connections_diff: Diff,
    base_path: z.string(),
    tags: z.array(z.string()),
    state: z.enum(ITEM_STATES),
    explicit: z.boolean().describe('asked for by name, so it stays without a difference'),
    plan: z.string().nullable().describe('the plan that has it'),
    staged_at: Time,
    details: z.array(z.string()).describe('the differences as lines'),
  })
  .meta({ id: 'PropagationChange' });
export type StagedItemView = z.infer<typeof StagedItemSchema>;

export const HistoryItemSchema = z
  .strictObject({
    uid: z.string(),
    log_action: z.string(),
    resource: z.string(),
    action: z.string(),
    diff: Diff,
    connections_diff: Diff,
    base_path: z.string(),
    tags: z.array(z.string()),
    plan: z.string().nullable(),
    committed_at: Time,
    details: z.array(z.string()).describe('the differences as lines'),
  })
  .meta({ id: 'PropagationHistoryItem' });
export type HistoryItemView = z.infer<typeof HistoryItemSchema>;

export const StageSchema = z
  .strictObject({
    tags: z
      .union([z.string(), z.array(z.string()).max(100)])
      .optional()
      .describe('tag expression, or several of which one matches'),
    names: z.array(z.string()).max(10_000).optional(),
    action: z.string().optional().describe('default update, or run for a resource that was never committed'),
  })
  .meta({ id: 'PropagationStage' });

export const DiscardSchema = z
  .union([z.strictObject({ uids: z.array(z.string()).min(1).max(10_000) }), z.strictObject({ all: z.literal(true) })])
  .meta({ id: 'PropagationDiscard' });
