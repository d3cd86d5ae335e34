/** *Stop everything*: what is asked, and what is answered. */
import { z } from 'zod';
import { REASON_MAX } from '../reason.ts';

/** Body of POST /api/v1/stop. */
export const StopBodySchema = z
  .strictObject({ reason: z.string().trim().min(1).max(REASON_MAX).describe('Why. The audit keeps it.') })
  .meta({ id: 'StopBody' });

/** Body of POST /api/v1/go. */
export const GoBodySchema = z
  .strictObject({ reason: z.string().max(REASON_MAX).optional().describe('Why. The audit keeps it.') })
  .meta({ id: 'GoBody' });

/** Answer of GET /api/v1/stop. */
export const StopStateSchema = z
  .strictObject({
    stopped: z.boolean().describe('Whether everything is stopped.'),
    since: z.string().nullable().describe('Since when; null while it goes on.'),
    actor: z.string().nullable().describe('Who stopped it; null where nobody is known, and while it goes on.'),
    reason: z.string().nullable().describe('Why; null while it goes on.'),
    complete: z.boolean().describe('False where stopping was broken off: the same request again completes it.'),
  })
  .meta({ id: 'StopState' });
export type StopState = z.infer<typeof StopStateSchema>;

/** Answer of POST /api/v1/stop and of POST /api/v1/go. */
export const StopAnswerSchema = StopStateSchema.extend({
  counts: z
    .record(z.string(), z.int())
    .describe(
      'How many things of each kind were stopped by this request, or go on: batcher, rollouts, schedules, sessions, operators, ' +
        'reconciles; and the deployments that wait, or have waited, to begin at their clusters.',
    ),
}).meta({ id: 'StopAnswer' });
export type StopAnswer = z.infer<typeof StopAnswerSchema>;
