import { z } from 'zod';
import { readBatcher } from '../../../control/batches/read-batches.ts';
import { readHardwareSync } from '../../../control/components/read-hardware-sync.ts';
import { readNotices } from '../../../control/configurations/read-notices.ts';
import { stopState } from '../../../control/fleet/stop-everything.ts';
import { countOperatorWork } from '../../../control/operator/read-operators.ts';
import { readOpenPlans } from '../../../control/propagation/read-plan.ts';
import { BatcherSchema } from '../../../domain/batches/batch-schema.ts';
import { HardwareSyncSchema } from '../../../domain/components/hardware-sync-schema.ts';
import { StopStateSchema } from '../../../domain/fleet/stop-schema.ts';
import { PLAN_STATES } from '../../../domain/propagation/plan-states.ts';
import { isConnectionError } from '../../../store/connection/database.ts';
import { countWork } from '../../../store/connection/service.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { readHealth } from '../../server/health.ts';
import type { ServiceApi } from './dependencies.ts';
import { CFS_VERSION } from './version-routes.ts';

const PartSchema = z.object({ ok: z.boolean(), reason: z.string().nullable() });
const StatusSchema = z.object({
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

/** What an administrator asks first: what runs, what waits, what is broken and why. Answers without a database too. */
export async function statusRoutes(app: ApiServer, deps: ServiceApi): Promise<void> {
  const links = {
    ui: `${deps.publicUrl}/ui/`,
    docs: `${deps.publicUrl}/docs`,
    openapi: `${deps.publicUrl}/openapi.json`,
    temporal_ui: deps.temporalUiUrl ?? null,
  };
  const { major, minor, patch } = CFS_VERSION;
  const versions = { muster: deps.version, cfs: `${major}.${minor}.${patch}` };
  app.get(
    '/status',
    {
      schema: { tags: ['service'], summary: 'Status of Muster', response: { 200: StatusSchema } },
      config: { access: 'reader', class: 'free' },
    },
    async () => {
      const health = await readHealth(deps);
      const known = health.database.ok;
      return {
        versions,
        ...health,
        workers: health.engine.ok ? await deps.readWorkers().catch(() => null) : null,
        counts: known ? await unlessAway(() => countWork(deps.db)) : null,
        plans: known && health.setup.ok ? await unlessAway(() => readOpenPlans(deps.db)) : null,
        stop: known && health.setup.ok ? await unlessAway(() => stopState(deps.db)) : null,
        operators: known && health.setup.ok ? await unlessAway(() => readOperatorCounts(deps)) : null,
        batcher: known && health.setup.ok ? await unlessAway(() => readBatcher(deps)) : null,
        hardware_sync: known && health.setup.ok ? await unlessAway(() => readHardwareSync(deps)) : null,
        notices: known && health.setup.ok ? ((await unlessAway(() => readNotices(deps))) ?? []) : [],
        links,
      };
    },
  );
}

async function readOperatorCounts(deps: ServiceApi) {
  const { live, open, due } = await countOperatorWork(deps);
  return { live, reconciles_open: open, due };
}

/** Null when the database has gone away meanwhile. */
async function unlessAway<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isConnectionError(error)) return null;
    throw error;
  }
}
