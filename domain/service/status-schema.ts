/** How Muster is, in short. */
import { z } from 'zod';
import { BatcherSchema } from '../batches/batch-schema.ts';
import { HardwareSyncSchema } from '../components/hardware-sync-schema.ts';
import { StopStateSchema } from '../fleet/stop-schema.ts';
import { PLAN_STATES } from '../propagation/plan-states.ts';

export const PartSchema = z.object({ ok: z.boolean(), reason: z.string().nullable() });
/** Answer of GET /api/v1/status. */
export const StatusSchema = z.object({
  versions: z.object({ muster: z.string(), cfs: z.string() }),
  database: PartSchema,
  engine: PartSchema,
  setup: PartSchema,
  workers: PartSchema.extend({ count: z.int() })
    .nullable()
    .describe('Those that take up work; null when the engine does not say. `ok` is false when there is none'),
  counts: z
    .object({
      sessions: z.object({ pending: z.int(), running: z.int(), complete: z.int() }),
      queue: z.int(),
      active_runs: z.int(),
    })
    .nullable(),
  plans: z
    .object({
      running: z.int(),
      paused: z.int(),
      open: z.array(z.object({ id: z.string(), name: z.string(), state: z.enum(PLAN_STATES) })),
    })
    .nullable()
    .describe('Plans that run or are paused; `open` has the 10 newest of them'),
  operators: z
    .object({ live: z.int(), reconciles_open: z.int(), due: z.int() })
    .nullable()
    .describe('Operators with a process that gives signs, their open reconciles, and resources that are due and wait'),
  batcher: BatcherSchema.nullable(),
  stop: StopStateSchema.nullable().describe('Whether everything is stopped; null when that is not known'),
  hardware_sync: HardwareSyncSchema.nullable().describe('Null where there is none'),
  notices: z.array(z.string()).describe('What an administrator has to decide, in sentences with the command'),
  links: z.object({ ui: z.string(), docs: z.string(), openapi: z.string(), temporal_ui: z.string().nullable() }),
});
export type Status = z.infer<typeof StatusSchema>;
