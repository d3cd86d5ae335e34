/** Records of another CFS, after what is null or empty was taken out; members that Muster does not know are dropped. */
import { z } from 'zod';
import { atMost, KEY_MAX, text } from '../schema.ts';
import {
  AdditionalInventorySchema,
  ConfigurationMusterSchema,
  ConfigurationNameSchema,
  LAYERS_MOST,
  StoredLayerSchema,
} from './schema.ts';

const ForeignLayerSchema = z.object({
  ...StoredLayerSchema.shape,
  special_parameters: z.object({ ims_require_dkms: z.boolean().optional() }).optional(),
});

export const ForeignConfigurationSchema = z.object({
  name: ConfigurationNameSchema,
  description: z.string().optional(),
  last_updated: z.string().optional(),
  layers: atMost(z.array(ForeignLayerSchema), LAYERS_MOST),
  additional_inventory: z.object(AdditionalInventorySchema.shape).optional(),
  tenant_name: z.string().optional(),
  /** Of another Muster. */
  muster: ConfigurationMusterSchema.optional(),
});
export type ForeignConfiguration = z.infer<typeof ForeignConfigurationSchema>;

export const ForeignSourceSchema = z.object({
  name: text(1, KEY_MAX),
  description: z.string().optional(),
  last_updated: z.string().optional(),
  clone_url: z.string().min(1),
  credentials: z.object({
    authentication_method: z.literal('password').default('password'),
    secret_name: z.string().min(1),
  }),
  ca_cert: z.object({ configmap_name: z.string().min(1), configmap_namespace: z.string().optional() }).optional(),
});
export type ForeignSource = z.infer<typeof ForeignSourceSchema>;

/** One option: its name and whatever value the other CFS has for it. */
export const ForeignOptionSchema = z.object({ name: z.string().min(1), value: z.unknown() });
