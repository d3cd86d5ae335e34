import { z } from 'zod';

/** How the hardware sync stands, in the status. */
export const HardwareSyncSchema = z
  .object({
    ok: z.boolean(),
    reason: z.string().nullable().describe('Why it is not well; null when it is'),
    last_pass_at: z.string(),
    last_success_at: z.string().nullable(),
    interval: z.int().describe('Seconds between two passes: option hardware_sync_interval'),
    nodes: z.int().describe('Nodes that the hardware manager named last'),
    created: z.int().describe('Components made since the beginning'),
  })
  .describe('The hardware sync');
export type HardwareSyncView = z.infer<typeof HardwareSyncSchema>;
