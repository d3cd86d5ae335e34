/** What workflows of this lane hand to their activities. */
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

/** A repository, by the id of its record. */
export const RepositoryRefSchema = z.object({ repository: z.uuid() });
export type RepositoryRef = z.infer<typeof RepositoryRefSchema>;

export const SyncRefSchema = RepositoryRefSchema.extend({ sync: z.int().min(1) });
export type SyncRef = z.infer<typeof SyncRefSchema>;

export const SyncFailureSchema = SyncRefSchema.extend({ code: z.string(), reason: z.string() });
export type SyncFailure = z.infer<typeof SyncFailureSchema>;
