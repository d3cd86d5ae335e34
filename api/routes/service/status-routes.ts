import { readBatcher } from '../../../control/batches/read-batches.ts';
import { readHardwareSync } from '../../../control/components/read-hardware-sync.ts';
import { readNotices } from '../../../control/configurations/read-notices.ts';
import { stopState } from '../../../control/fleet/stop-everything.ts';
import { countOperatorWork } from '../../../control/operator/read-operators.ts';
import { readOpenPlans } from '../../../control/propagation/read-plan.ts';
import { type Status, StatusSchema } from '../../../domain/service/status-schema.ts';
import { isConnectionError } from '../../../store/connection/database.ts';
import { countWork } from '../../../store/connection/service.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { readHealth } from '../../server/health.ts';
import type { ServiceApi } from './dependencies.ts';
import { CFS_VERSION } from './version-routes.ts';

/** What an administrator asks first: what runs, what waits, what is broken and why. Answers without a database too. */
export async function statusRoutes(app: ApiServer, readStatus: () => Promise<Status>): Promise<void> {
  app.get(
    '/status',
    {
      schema: { tags: ['service'], summary: 'Status of Muster', response: { 200: StatusSchema } },
      config: { access: 'reader', class: 'free' },
    },
    readStatus,
  );
}

/** Returns what reads the status. */
export function statusReader(deps: ServiceApi): () => Promise<Status> {
  const links = {
    ui: `${deps.publicUrl}/ui/`,
    docs: `${deps.publicUrl}/docs`,
    openapi: `${deps.publicUrl}/openapi.json`,
    temporal_ui: deps.temporalUiUrl ?? null,
  };
  const { major, minor, patch } = CFS_VERSION;
  const versions = { muster: deps.version, cfs: `${major}.${minor}.${patch}` };
  return async () => {
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
  };
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
