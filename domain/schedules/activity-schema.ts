/** What the run of a schedule hands to its activities. */
import { z } from 'zod';
import { IdSchema } from '../runs/id-schema.ts';

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
