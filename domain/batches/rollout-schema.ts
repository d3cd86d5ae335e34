/** Shapes of /api/v1/rollouts. Times are ISO with ms and Z. */

import { z } from 'zod';
import { RolloutPolicySchema } from '../configurations/schema.ts';
import { LIMIT_TEXT } from '../schema.ts';
import { ROLLOUT_STAGES, ROLLOUT_STATES } from './rollout.ts';

const time = z.string();
const count = z.int();

export const RolloutSchema = z.strictObject({
  id: z.int().describe('the newer, the greater'),
  configuration: z.string(),
  version: z.string().describe('stands for commits and playbooks of all layers'),
  state: z.enum(ROLLOUT_STATES),
  stage: z.enum(ROLLOUT_STAGES).describe('which it is in, also while it is stopped or done'),
  current: z.boolean().describe('of what the configuration desires now'),
  reason: z.string().nullable().describe('why it was stopped or replaced, or that it waits for canaries'),
  policy: RolloutPolicySchema.nullable().describe(
    'of the configuration as it is now; null when the rollout is not current',
  ),
  components: count.describe('enabled ones that desire the configuration, when it was looked at last'),
  configured: count.describe('of them'),
  pending: count.describe('of them, in sessions or not'),
  failed: count.describe('of them, without tries left'),
  in_sessions: count.describe("in the batcher's sessions, of this version or the one before"),
  done: count.describe('configured by this rollout'),
  failures: count.describe('components whose last session of this rollout failed, since it was resumed'),
  created_at: time,
  updated_at: time,
  ended_at: time.nullable(),
  stopped_at: time.nullable(),
  stopped_by: z.string().nullable(),
  resumed_at: time.nullable(),
  resumed_by: z.string().nullable(),
});
export type Rollout = z.infer<typeof RolloutSchema>;

export const RolloutDetailSchema = RolloutSchema.extend({
  canaries: z
    .array(z.string())
    .describe('ids of the components that were sent as canaries, and of those that the policy chooses; the first 1000'),
});
export type RolloutDetail = z.infer<typeof RolloutDetailSchema>;

/** A page of the rollouts, newest first. */
export const RolloutListQuerySchema = z.object({
  configuration: z.string().optional().describe('only those of the configuration'),
  state: z.enum(ROLLOUT_STATES).optional().describe('only those in the state'),
  all: z.boolean().default(false).describe('also those that are not current'),
  limit: z.int().min(1).max(1_000).default(100).describe(LIMIT_TEXT),
  after_id: z.int().min(1).optional().describe('only older ones than this'),
});
export type RolloutListQuery = z.infer<typeof RolloutListQuerySchema>;

/** Body of stop. */
export const RolloutStopSchema = z.strictObject({ reason: z.string().min(1).max(500).optional() });
