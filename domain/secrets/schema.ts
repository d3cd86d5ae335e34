/** Shapes of lane secrets. */
import { z } from 'zod';

/** Names of secrets follow Kubernetes, where they live in a cluster: a DNS-1123 subdomain. */
export const SecretNameSchema = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/, 'must be a lower-case DNS name');

export const SecretKeySchema = z
  .string()
  .max(253)
  .regex(/^(?!\.{1,2}$)[-._a-zA-Z0-9]+$/, 'must be letters, digits, hyphen, underscore or dot');

export const SecretValueSchema = z.strictObject({ value: z.string() });
