/** What the driver of a plan hands to its activities. */
import { z } from 'zod';

/** Attempts in flight at most. */
const MOST = 1_000;

export const AdvancePlanSchema = z.object({
  plan: z.uuid(),
  /** Attempts that the driver watches. */
  own: z.array(z.uuid()).max(MOST),
  /** Attempts whose machine did not take them. */
  away: z.array(z.uuid()).max(MOST),
});
export type AdvancePlanInput = z.infer<typeof AdvancePlanSchema>;

export const RunAttemptSchema = z.object({ plan: z.uuid(), attempt: z.uuid() });
export type RunAttemptInput = z.infer<typeof RunAttemptSchema>;
