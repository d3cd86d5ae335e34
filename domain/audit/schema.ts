/** Shapes of what happened: audit records. Times are ISO with ms and Z. */

import { z } from 'zod';
import { AFTER_ID_TEXT, LIMIT_TEXT } from '../schema.ts';

const MembersSchema = z.record(z.string(), z.unknown());

/** One change of one record by one statement. */
export const AuditRecordSchema = z.strictObject({
  id: z.string(),
  time: z.string(),
  actor: z.string().nullable().describe('who did it; null where nobody is known'),
  action: z
    .string()
    .describe(
      'create, update, delete; of sessions also cancel, retry, finish_debug; of tokens revoke; of schedules, the batcher and rollouts pause, resume, stop, trigger',
    ),
  kind: z.string().describe('what was changed, such as component'),
  name: z.string().describe('which one; of a secret its name and key'),
  before: MembersSchema.nullable().describe('what changed, as it was; null for what was created'),
  after: MembersSchema.nullable().describe('what changed, as it is then; null for what was deleted'),
  request_id: z.string().nullable().describe('as in the answer header X-Request-Id and in the log'),
  via: z.string().nullable().describe('method and route of the request; null for what Muster did by itself'),
  reason: z.string().nullable().describe('why, in the words of who asked; null where nothing was said'),
});
export type AuditRecord = z.infer<typeof AuditRecordSchema>;

/** Place in a list that is ordered by time: milliseconds since 1970 and a number. */
const CURSOR = /^[0-9]{1,13}-[0-9]{1,18}$/;

/** A page of the records, newest first; absent and empty filters filter nothing. */
export const AuditListQuerySchema = z.object({
  actor: z.string().optional().describe('such as token/ci or batcher'),
  kind: z.string().optional().describe('such as component, configuration, session, options'),
  name: z.string().optional().describe('goes well with kind'),
  action: z.string().optional().describe('such as create, update or delete'),
  since: z.iso.datetime({ offset: true }).optional().describe('from then on'),
  until: z.iso.datetime({ offset: true }).optional().describe('until then'),
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z
    .string()
    .refine((value) => value === '' || CURSOR.test(value), { error: 'must be the after_id of a page before' })
    .default('')
    .describe(AFTER_ID_TEXT),
});
export type AuditListQuery = z.infer<typeof AuditListQuerySchema>;

const count = z.int();
const name = z.string().nullable();
const base = { id: z.string(), time: z.string() };
const layerOfSession = {
  session: name.describe('null when the session is forgotten'),
  session_id: name,
  configuration: name,
  layer: count,
  clone_url: name,
  playbook: name,
  commit: name,
};

/** Somebody, or Muster itself, changed the component. */
const ChangeEntrySchema = AuditRecordSchema.pick({
  actor: true,
  action: true,
  before: true,
  after: true,
  request_id: true,
  via: true,
  reason: true,
}).extend({ ...base, type: z.literal('change') });

/** A session ran a layer on it. */
const LayerEntrySchema = z.strictObject({
  ...base,
  type: z.literal('layer'),
  ...layerOfSession,
  attempt: count,
  status: z.string(),
  is_check: z.boolean().describe('the session only looked what it would change'),
  taken_as: name.describe(
    'status that the component took: failed counted an error, applied cleared the count; null: none',
  ),
  message: name.describe('why it failed, or why its playbook broke off; null: neither is known'),
  ok: count,
  changed: count,
  failures: count,
  unreachable: count,
  skipped: count,
  rescued: count,
  ignored: count,
});

/** The batcher has it in a batch, or had; the time is that of joining, then that of the end. */
const BatchEntrySchema = z.strictObject({
  ...base,
  type: z.literal('batch'),
  batch: z.string(),
  state: z.string(),
  configuration: name,
  session: name,
  session_id: name,
  tries: count,
  result: name,
  reason: name,
});

/** What the last check of a layer found. */
const DriftEntrySchema = z.strictObject({
  ...base,
  type: z.literal('drift'),
  ...layerOfSession,
  status: z.string(),
  changed: count,
});

/** A plan has executed an action on it. */
const ActionEntrySchema = z.strictObject({
  ...base,
  type: z.literal('action'),
  plan: z.string(),
  plan_name: z.string(),
  node: z.string(),
  attempt: z.string(),
  number: count.describe('which attempt of its node, from 1'),
  outcome: name,
  code: name,
  message: name,
});

/** One thing that happened to a component. */
export const TimelineEntrySchema = z.discriminatedUnion('type', [
  ChangeEntrySchema,
  LayerEntrySchema,
  BatchEntrySchema,
  DriftEntrySchema,
  ActionEntrySchema,
]);
export type TimelineEntry = z.infer<typeof TimelineEntrySchema>;
const TIMELINE_TYPES = ['change', 'layer', 'batch', 'drift', 'action'] as const satisfies TimelineEntry['type'][];

/** Place in a timeline: milliseconds since 1970, type and key of an entry. */
const TIMELINE_CURSOR = /^[0-9]{1,13}-[a-z]{1,20}-[0-9A-Za-z._-]{1,200}$/;

/** A page of a timeline, newest first. */
export const TimelineQuerySchema = z.object({
  type: z.enum(TIMELINE_TYPES).optional().describe('only entries of this type'),
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z
    .string()
    .refine((value) => value === '' || TIMELINE_CURSOR.test(value), { error: 'must be the after_id of a page before' })
    .default('')
    .describe(AFTER_ID_TEXT),
});
export type TimelineQuery = z.infer<typeof TimelineQuerySchema>;
