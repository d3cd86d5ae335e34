/** A component as another CFS shows it with `state_details`: members may be absent or null, and others may be there. */
import { z } from 'zod';
import { KEY_MAX, text } from '../schema.ts';
import { LAYER_STATES } from './schema.ts';

export const ForeignComponentSchema = z.object({
  id: text(1, KEY_MAX),
  state: z.unknown().optional(),
  desired_config: text(0, KEY_MAX).nullish(),
  error_count: z.int().nullish(),
  retry_policy: z.int().nullish(),
  enabled: z.boolean().nullish(),
  tags: z.record(z.string(), z.unknown()).nullish(),
  muster: z.unknown().optional(),
});
export type ForeignComponent = z.infer<typeof ForeignComponentSchema>;

export const ForeignStateLayerSchema = z.object({
  clone_url: z.string(),
  playbook: z.string(),
  commit: z.string(),
  status: z.enum(LAYER_STATES).nullish(),
  session_name: z.string().nullish(),
  last_updated: z.string().nullish(),
});
