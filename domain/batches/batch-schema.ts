/** Shapes of /api/v1/batches: what the batcher holds, and why it is not sent yet. Times are ISO with ms and Z. */

import { z } from 'zod';
import { AFTER_ID_TEXT, LIMIT_TEXT } from '../schema.ts';
import { WHY_NOT } from './plan-sends.ts';

const time = z.string();
const count = z.int();

export const BATCH_STATES = ['open', 'sent', 'ended'] as const;
export type BatchState = (typeof BATCH_STATES)[number];

const BackOffSchema = z
  .strictObject({
    length: z.int().describe('seconds'),
    since: time,
    until: time.describe('then one batch goes alone, as a probe'),
    probe: z.string().nullable().describe('id of the batch whose end decides, while it is out'),
  })
  .nullable();

const BATCHER_WORDS = ['working', 'backoff', 'paused', 'disabled', 'late'] as const;

/** How the batcher is. */
export const BatcherSchema = z.strictObject({
  state: z
    .enum(BATCHER_WORDS)
    .describe('late: no pass when one was due; disabled: by option batcher_disable; backoff: all sending is held back'),
  paused_by: z.string().nullable(),
  paused_at: time.nullable(),
  backoff: BackOffSchema,
  results: z.strictObject({ remembered: count, failed: count }).describe('of the last batches that ended'),
  last_pass_at: time.nullable(),
  last_pass_ms: z.int().nullable(),
  next_pass_at: time.nullable().describe('at the latest'),
  open: count.describe('batches that are not sent yet'),
  sent: count.describe('batches whose session has not ended'),
  held_keys: count.describe('keys whose batches wait because of a fault of the controller'),
  held_reason: z.string().nullable().describe('what that fault is, of the key that has waited longest'),
});
export type Batcher = z.infer<typeof BatcherSchema>;

const AbsentConfigurationSchema = z.strictObject({
  configuration: z.string(),
  components: count.describe('how many desire it'),
  ids: z.array(z.string()).describe('the first of them'),
});
export type AbsentConfiguration = z.infer<typeof AbsentConfigurationSchema>;

/** The same with what stands between components and their sessions. */
export const BatcherDetailSchema = BatcherSchema.extend({
  due: count.describe('batches that the next pass sends'),
  waits: z.partialRecord(z.enum(WHY_NOT), count).describe('open batches by the reason why they are not sent'),
  leased_components: count.describe('enabled and pending, in no batch because another session has them'),
  failed_components: count.describe('enabled, and not tried any more: their tries are used up'),
  absent_configurations: z
    .array(AbsentConfigurationSchema)
    .describe('desired by components, and not there: nothing configures these components; the first ten'),
});
export type BatcherDetail = z.infer<typeof BatcherDetailSchema>;

export const BatchSchema = z.strictObject({
  id: z.string(),
  key: z.string().describe('configuration, pending layers, and status of the last report'),
  configuration: z.string(),
  layers: z.string(),
  state: z.enum(BATCH_STATES),
  components: z.int().nullable().describe('null when the session of an ended batch is forgotten'),
  leased: z.int().nullable().describe('components that other sessions have; of open batches'),
  opened_at: time,
  why_not: z
    .enum(WHY_NOT)
    .nullable()
    .describe('why an open batch is not sent; null: the next pass sends it, as with controller when `until` is past'),
  until: time.nullable().describe('when it may go if nothing else happens; null when an event decides'),
  seconds_left: z.number().nullable().describe('until then'),
  refusal: z
    .string()
    .nullable()
    .describe('why the last try to make its session failed; with controller: what its last session ended with'),
  tries: count,
  probe: z.boolean().describe('its end decides about the back-off'),
  sent_at: time.nullable(),
  session: z.strictObject({ id: z.string(), name: z.string(), status: z.string().nullable() }).nullable(),
  ended_at: time.nullable(),
  result: z.enum(['success', 'failure']).nullable(),
  fault: z.string().nullable().describe('code of the fault of the controller that its session ended with'),
  reason: z.string().nullable(),
});
export type Batch = z.infer<typeof BatchSchema>;

export const BatchDetailSchema = BatchSchema.extend({
  members: z.array(z.string()).nullable().describe('ids of its components; null when they are forgotten'),
});
export type BatchDetail = z.infer<typeof BatchDetailSchema>;

/** What is known of a key: batches of it that have not ended, its failures, whether somebody paused it. */
export const BatchKeySchema = z.strictObject({
  key: z.string(),
  open: count,
  sent: count,
  components: count.describe('of open batches'),
  why_not: z.partialRecord(z.enum(WHY_NOT), count).describe('open batches by the reason why they are not sent'),
  failures_in_a_row: count,
  backoff: BackOffSchema,
  controller: z
    .strictObject({
      code: z.string().describe('of the catalogue of errors'),
      reason: z.string().describe('message of the last session'),
      session: z.string(),
      since: time,
      until: time.describe('then one batch is tried; in the past: at once'),
      probe: z.string().nullable().describe('id of the batch whose end decides, while it is out'),
    })
    .nullable()
    .describe('the fault of the controller that holds the key; it costs no component a try'),
  paused: z.boolean(),
  paused_by: z.string().nullable(),
});
export type BatchKey = z.infer<typeof BatchKeySchema>;

/** Place in a list that is ordered by time: milliseconds since 1970 and the id. */
const CURSOR = /^[0-9]{1,13}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A page of the batches: those that have not ended by their age, ended ones newest first. */
export const BatchListQuerySchema = z.object({
  state: z
    .enum(['live', ...BATCH_STATES])
    .default('live')
    .describe('live: open and sent'),
  key: z.string().optional().describe('Only batches of this key.'),
  configuration: z.string().optional().describe('only those of the configuration'),
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z
    .string()
    .refine((value) => value === '' || CURSOR.test(value), { error: 'must be the after_id of a page before' })
    .default('')
    .describe(AFTER_ID_TEXT),
});
export type BatchListQuery = z.infer<typeof BatchListQuerySchema>;

export const BatchKeyListQuerySchema = z.object({
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z.string().default('').describe(AFTER_ID_TEXT),
});

/** Body of pause and resume: one key, or without it all. */
export const BatchPauseSchema = z.strictObject({ key: z.string().min(1).max(300).optional() });
export type BatchPause = z.infer<typeof BatchPauseSchema>;
