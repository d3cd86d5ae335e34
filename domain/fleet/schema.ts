/** The fleet in numbers. */
import { z } from 'zod';
import { BatcherSchema } from '../batches/batch-schema.ts';
import { StopStateSchema } from './stop-schema.ts';

const count = z.int().min(0);

/** Configurations that are counted one by one at most. */
export const FLEET_CONFIGURATIONS = 100;

/** Answer of GET /api/v1/fleet. */
export const FleetSchema = z
  .strictObject({
    total: count.describe('Components.'),
    by_status: z
      .strictObject({ configured: count, pending: count, failed: count, unconfigured: count })
      .describe('All components, disabled ones too, by `configuration_status`.'),
    enabled: count,
    disabled: count,
    by_configuration: z
      .array(
        z.strictObject({
          configuration: z.string(),
          count,
          configured: count.describe('Of them, those that have reached it.'),
        }),
      )
      .describe('Desired configurations with most components, at most 100. An empty name: none is desired.'),
    batcher: BatcherSchema,
    stop: StopStateSchema,
    attention: count
      .nullable()
      .describe(
        'How much needs a person, as `GET /fleet/attention` counted it up to 14 s ago; null where the last count is older and a new one fails.',
      ),
    as_of: z
      .string()
      .describe(
        'When components were counted: up to 1 s ago; of more than 100,000 of them 1 s for each 100,000, at most 10 s.',
      ),
  })
  .meta({ id: 'Fleet' });
export type Fleet = z.infer<typeof FleetSchema>;
