/** What the workflows of the automation hand to their activities. */
import { z } from 'zod';
import { IdSchema } from '../runs/id-schema.ts';

export const PassRequestSchema = z.object({
  /** Whether somebody asked for this pass, who may know of a change. */
  poked: z.boolean(),
});
export type PassRequest = z.infer<typeof PassRequestSchema>;

export const BeginScheduleRunSchema = z.object({
  scheduleId: IdSchema,
  /** ISO 8601. */
  scheduledAt: z.iso.datetime({ offset: true }),
  workflowId: z.string().min(1).max(1_000),
});
export type BeginScheduleRun = z.infer<typeof BeginScheduleRunSchema>;

export const ScheduleRunRefSchema = z.object({ runId: IdSchema });
export type ScheduleRunRef = z.infer<typeof ScheduleRunRefSchema>;

export const ScheduleRunFailureSchema = ScheduleRunRefSchema.extend({
  code: z.string().min(1).max(200),
  detail: z.string(),
});
export type ScheduleRunFailure = z.infer<typeof ScheduleRunFailureSchema>;

/** A webhook's name becomes no path. */
export const WebhookRefSchema = z.object({ name: z.string().min(1).max(300) });
export type WebhookRef = z.infer<typeof WebhookRefSchema>;
