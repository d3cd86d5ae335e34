/** What of the fleet needs a person. */
import { z } from 'zod';

/** In the order in which they are told: the worst first. */
export const ATTENTION_KINDS = [
  'failed_components',
  'held_session',
  'stopped_rollout',
  'waiting_session',
  'backoff',
  'failing_schedule',
  'drift',
  'workers_away',
  'low_disk',
  'lag',
] as const;

/** Rows that an answer has at most. */
export const ATTENTION_MAX = 100;

/** What waits for longer counts, minutes. */
export const WAITS_LONG_MINUTES = 5;

const AttentionItemSchema = z
  .strictObject({
    kind: z.enum(ATTENTION_KINDS),
    what: z.string().describe('What it is, in a few words.'),
    count: z.int().min(1).describe('Components, or sessions that wait; 1 of a kind that is no group.'),
    since: z.iso.datetime().nullable().describe('Since when; of a group, since the first of them.'),
    reason: z.string().describe('Why. Of failed components, what the newest of them failed with.'),
    fix: z.strictObject({
      action: z.string().describe('What mends it, in a few words.'),
      command: z.string().describe('The command that does so.'),
    }),
    failure: z
      .string()
      .nullable()
      .describe(
        'Of failed components: id of what they failed with, for the filter `failure` of components; else null.',
      ),
    link: z
      .strictObject({
        page: z.enum(['sessions', 'components', 'rollouts', 'batches', 'schedules', 'drift', 'system']),
        name: z.string().nullable().describe('Name of the record; null where the page shows all.'),
        id: z.string().nullable().describe('Id of the session, whose name may be used again.'),
      })
      .describe('The page of the web UI that shows it.'),
  })
  .meta({ id: 'AttentionItem' });
export type AttentionItem = z.infer<typeof AttentionItemSchema>;

/** Answer of GET /api/v1/fleet/attention. */
export const AttentionSchema = z
  .strictObject({
    items: z.array(AttentionItemSchema).describe(`The worst first, at most ${ATTENTION_MAX}.`),
    more: z.int().min(0).describe('Items that are left out.'),
    as_of: z.string().describe('When this was looked at.'),
  })
  .meta({ id: 'Attention' });
export type Attention = z.infer<typeof AttentionSchema>;
