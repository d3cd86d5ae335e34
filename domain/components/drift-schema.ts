/** Shapes of drift: what the last check found of every component. Times are ISO with ms and Z. */

import { z } from 'zod';
import { TaskChangeSchema } from '../runs/schema.ts';
import { AFTER_ID_TEXT, LIMIT_TEXT } from '../schema.ts';

/** Worst first: the check did not come to its end, it found changes, it found none. */
export const DRIFT_STATUSES = ['unreachable', 'failed', 'drifted', 'in_sync'] as const;
export type DriftStatus = (typeof DRIFT_STATUSES)[number];

const DriftLayerSchema = z.strictObject({
  /** Index in the configuration. */
  layer: z.int(),
  clone_url: z.string(),
  playbook: z.string(),
  commit: z.string(),
  status: z.enum(DRIFT_STATUSES),
  /** Tasks that would change something. */
  changed: z.int(),
  /** Tasks that seem to change something, perhaps only because check mode skips a task that they depend on; they are no drift. */
  uncertain: z.int(),
  session_name: z.string(),
  checked_at: z.string(),
});

/** An entry of GET /api/v1/drift. */
export const DriftItemSchema = z.strictObject({
  id: z.string(),
  /** The worst of its layers. */
  status: z.enum(DRIFT_STATUSES),
  /** What it was checked against. */
  configuration: z.string(),
  changed: z.int(),
  uncertain: z.int(),
  checked_at: z.string(),
  layers: z.array(DriftLayerSchema),
});
export type DriftItem = z.infer<typeof DriftItemSchema>;

/** GET /api/v1/drift/{id}: with the tasks. */
export const DriftDetailSchema = DriftItemSchema.extend({
  layers: z.array(
    DriftLayerSchema.extend({
      changes: z.array(TaskChangeSchema),
      /** Tasks that are counted and for which there was no room. */
      changes_left_out: z.int(),
    }),
  ),
});
export type DriftDetail = z.infer<typeof DriftDetailSchema>;

/** Query of GET /api/v1/drift; empty text filters nothing. */
export const DriftListQuerySchema = z.object({
  status: z
    .enum([...DRIFT_STATUSES, ''])
    .optional()
    .describe('Only records with this status. An empty text filters nothing.'),
  config_name: z.string().optional().describe('Only components that desire this configuration.'),
  ids: z.string().optional().describe('Only these components: ids with commas between them.'),
  limit: z.int().min(1).optional().describe(LIMIT_TEXT),
  after_id: z.string().optional().describe(AFTER_ID_TEXT),
});
export type DriftListQuery = z.infer<typeof DriftListQuerySchema>;

/** How many hosts a check saw, each counted once. */
export interface CheckCounts {
  hosts: number;
  drifted: number;
  /** Hosts of which not everything could be found out. */
  unclear: number;
}
