/** Webhooks: who is told of what, and what became of it. */

import { z } from 'zod';
import { AFTER_ID_TEXT, LIMIT_TEXT } from '../schema.ts';

export const WEBHOOK_EVENTS = [
  'session.ended',
  'component.failed',
  'rollout.stopped',
  'batch.held',
  'plan.ended',
  'plan.waiting',
  'operator.failed',
  'deployment.ended',
  'cluster.unreachable',
  'cluster.back',
  'cluster.credential_ends',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];
/** What a webhook gets that is tested. */
export const PING = 'ping';

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const NameSchema = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,43}[a-z0-9])?$/, 'must have 1 to 45 lower-case letters, digits or hyphens');
const UrlSchema = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2_000);
const EventsSchema = z
  .array(z.enum(WEBHOOK_EVENTS))
  .min(1)
  .refine((events) => new Set(events).size === events.length, { error: 'must name each event once' });

/** Body of a new webhook. */
export const WebhookCreateSchema = z.strictObject({
  name: NameSchema,
  url: UrlSchema.describe('where it is sent to, by POST; never shown whole again'),
  events: EventsSchema,
  secret: z
    .string()
    .regex(/^[\x21-\x7e]{16,256}$/, 'must be 16 to 256 printable ASCII characters without blanks')
    .optional()
    .describe('key of the signature; default: a random one'),
  enabled: z.boolean().optional().describe('default: true'),
  allow_private_redirects: z
    .boolean()
    .optional()
    .describe('whether a redirect may lead to loopback or private addresses; default: false'),
});
export type WebhookCreate = z.infer<typeof WebhookCreateSchema>;

export const WebhookPatchSchema = WebhookCreateSchema.omit({ name: true }).partial();
export type WebhookPatch = z.infer<typeof WebhookPatchSchema>;

/** A webhook as it is shown: never its secret. */
export const WebhookSchema = z.object({
  name: z.string(),
  url: z.string().describe('scheme and host alone (`https://host/***`): the rest is a secret'),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  enabled: z.boolean(),
  allow_private_redirects: z.boolean(),
  waiting: z.int().describe('deliveries that have not succeeded yet'),
  created_at: z.string(),
  updated_at: z.string(),
  updated_by: z.string().nullable(),
});
export type WebhookView = z.infer<typeof WebhookSchema>;

/** The answer to a create: the only time that the secret is shown. */
export const WebhookCreatedSchema = WebhookSchema.extend({ secret: z.string() });
export type WebhookCreated = z.infer<typeof WebhookCreatedSchema>;

export const DeliverySchema = z.object({
  id: z.string(),
  event: z.string(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.int(),
  created_at: z.string(),
  next_try_at: z.string().nullable(),
  delivered_at: z.string().nullable(),
  last_status: z.int().nullable().describe('HTTP status of the last answer'),
  last_error: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});
export type DeliveryView = z.infer<typeof DeliverySchema>;

const PageQuerySchema = z.object({
  limit: z.int().min(1).max(10_000).default(1000).describe(LIMIT_TEXT),
  after_id: z.string().default('').describe(AFTER_ID_TEXT),
});
/** A page of the webhooks, by name. */
export const WebhookListQuerySchema = PageQuerySchema;
/** A page of a webhook's deliveries, newest first; `after_id` is the id of a delivery. */
export const DeliveryListQuerySchema = PageQuerySchema.extend({
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  state: z.enum(DELIVERY_STATES).optional().describe('only those in the state'),
});
