/** Shapes of lane components on the v3 wire (cfs-api 6). */
import { z } from 'zod';

export const LAYER_STATES = ['applied', 'failed', 'skipped', 'incomplete'] as const;
export type LayerState = (typeof LAYER_STATES)[number];
const WRITABLE_LAYER_STATES = ['applied', 'failed', 'skipped'] as const;
export const CONFIGURATION_STATUSES = ['unconfigured', 'failed', 'pending', 'configured'] as const;
export type ConfigurationStatus = (typeof CONFIGURATION_STATUSES)[number];

/** A stored and returned entry of `state`: what one layer's playbook reached on the component. */
export const StateLayerSchema = z.strictObject({
  clone_url: z.string(),
  playbook: z.string(),
  commit: z.string(),
  status: z.enum(LAYER_STATES),
  session_name: z.string(),
  last_updated: z.string(),
});
export type StateLayer = z.infer<typeof StateLayerSchema>;

/** An entry of `state` in a request; `last_updated` is the server's. */
export const StateLayerInputSchema = z.strictObject({
  clone_url: z.string(),
  playbook: z.string(),
  commit: z.string(),
  status: z.enum(WRITABLE_LAYER_STATES),
  session_name: z.string(),
});
export type StateLayerInput = z.infer<typeof StateLayerInputSchema>;

/** `state_append` in a request: `commit` may carry a status suffix, which wins over `status` (cfs-api 6.2). */
export const StateAppendSchema = z.strictObject({
  clone_url: z.string().optional(),
  playbook: z.string().optional(),
  commit: z.string().optional(),
  status: z.enum(WRITABLE_LAYER_STATES).optional(),
  session_name: z.string().optional(),
});
export type StateAppend = z.infer<typeof StateAppendSchema>;

const TagsSchema = z.record(z.string(), z.string());

/** A component as stored. Status is never stored: it is computed when read (cfs-api 7). */
export const ComponentSchema = z.strictObject({
  id: z.string().min(1),
  state: z.array(StateLayerSchema),
  desired_config: z.string(),
  error_count: z.int(),
  retry_policy: z.int().optional(),
  enabled: z.boolean(),
  tags: TagsSchema,
});
export type Component = z.infer<typeof ComponentSchema>;

/** Body of PUT and PATCH of one component; a patch takes any subset, a PUT fills what is absent (cfs-api 6.3). */
export const ComponentBodySchema = z.strictObject({
  id: z.string().min(1).optional(),
  state: z.array(StateLayerInputSchema).optional(),
  state_append: StateAppendSchema.optional(),
  desired_config: z.string().max(60).optional(),
  error_count: z.int().optional(),
  retry_policy: z.int().optional(),
  enabled: z.boolean().optional(),
  tags: TagsSchema.optional(),
});
export type ComponentBody = z.infer<typeof ComponentBodySchema>;
