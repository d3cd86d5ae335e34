/** Shapes of checks for drift: which components are looked at, and what became of the request. */
import { z } from 'zod';
import { ComponentFilterSchema } from '../components/schema.ts';
import { text } from '../schema.ts';

/** Body of POST /api/v1/drift/checks: either a filter of components or the configuration that they desire. */
export const DriftCheckSchema = z.strictObject({
  filter: ComponentFilterSchema.strict().optional(),
  configuration: text(1, 60).optional(),
  /** Whether what drifted is configured again: its layers count as not configured when the check ends. */
  reconfigure: z.boolean().optional(),
});
export type DriftCheck = z.infer<typeof DriftCheckSchema>;

const LeftOutSchema = z.strictObject({
  reason: z.string(),
  components: z.int(),
  /** Ids of the first of them. */
  first: z.array(z.string()),
});
export type LeftOut = z.infer<typeof LeftOutSchema>;

export const DriftCheckAnswerSchema = z.strictObject({
  /** Names of the sessions that look. */
  sessions: z.array(z.string()),
  /** How many components they look at. */
  components: z.int(),
  /** Components that match and cannot be checked, by reason. */
  left_out: z.array(LeftOutSchema),
});
export type DriftCheckAnswer = z.infer<typeof DriftCheckAnswerSchema>;

/** What is kept of it. */
export type KeptCheckAnswer = DriftCheckAnswer & {
  /** Ids of `sessions`, in their order; absent in what the release before has made. */
  session_ids?: string[] | undefined;
};
