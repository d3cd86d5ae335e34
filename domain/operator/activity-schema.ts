/** What workflows of operators hand to their activities. */
import { z } from 'zod';
import { IdSchema } from '../runs/id-schema.ts';

export const OperatorRefSchema = z.object({
  operator: z.string().regex(/^[a-z0-9.-]{1,63}$/, 'must be the name of an operator'),
});
export type OperatorRef = z.infer<typeof OperatorRefSchema>;

export const ReconcileRefSchema = z.object({ reconcileId: IdSchema });
export type ReconcileRef = z.infer<typeof ReconcileRefSchema>;
