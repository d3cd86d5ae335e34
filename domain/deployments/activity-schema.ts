/** What the workflows of AppContexts hand to their activities. */
import { z } from 'zod';

const ContextIdSchema = z.string().regex(/^[0-9]{1,19}$/);
export const PhaseSchema = z.enum(['apply', 'delete']);

export const ContextRefSchema = z.object({ context: ContextIdSchema });
export type ContextRef = z.infer<typeof ContextRefSchema>;

export const PhaseRefSchema = ContextRefSchema.extend({ phase: PhaseSchema });
export type PhaseRef = z.infer<typeof PhaseRefSchema>;

export const GroupRefSchema = PhaseRefSchema.extend({
  /** `<provider>+<cluster>` */
  cluster: z.string().min(3).max(300),
  app: z.string().min(1).max(128),
  /** Waits of this group that have passed without a success. */
  waits: z.int().min(0),
  /** False: the cluster holds no place among those at work. */
  hasPlace: z.boolean().optional(),
});
export type GroupRef = z.infer<typeof GroupRefSchema>;
