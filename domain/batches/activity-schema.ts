/** What the batcher hands to its activities. */
import { z } from 'zod';

export const PassRequestSchema = z.object({
  /** Whether somebody asked for this pass, who may know of a change. */
  poked: z.boolean(),
});

export type PassRequest = z.infer<typeof PassRequestSchema>;
