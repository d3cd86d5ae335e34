import { z } from 'zod';
import { isConnectionError } from '../../../store/database.ts';
import { countWork, type WorkCounts } from '../../../store/service.ts';
import type { ApiDependencies, ApiServer } from '../../dependencies.ts';
import { readHealth } from '../../health.ts';
import { CFS_VERSION } from './version-routes.ts';

const PartSchema = z.object({ ok: z.boolean(), reason: z.string().nullable() });
const StatusSchema = z.object({
  versions: z.object({ muster: z.string(), cfs: z.string() }),
  database: PartSchema,
  engine: PartSchema,
  setup: PartSchema,
  counts: z
    .object({
      sessions: z.object({ pending: z.int(), running: z.int(), complete: z.int() }),
      queue: z.int(),
      active_runs: z.int(),
    })
    .nullable(),
  links: z.object({ docs: z.string(), openapi: z.string(), temporal_ui: z.string().nullable() }),
});

/** What an administrator asks first: what runs, what waits, what is broken and why. Answers without a database too. */
export async function statusRoutes(app: ApiServer, deps: ApiDependencies): Promise<void> {
  const links = {
    docs: `${deps.publicUrl}/docs`,
    openapi: `${deps.publicUrl}/openapi.json`,
    temporal_ui: deps.temporalUiUrl ?? null,
  };
  const { major, minor, patch } = CFS_VERSION;
  const versions = { muster: deps.version, cfs: `${major}.${minor}.${patch}` };
  app.get(
    '/status',
    { schema: { tags: ['service'], summary: 'Status of Muster', response: { 200: StatusSchema } } },
    async () => {
      const health = await readHealth(deps);
      return { versions, ...health, counts: health.database.ok ? await counts(deps) : null, links };
    },
  );
}

async function counts(deps: ApiDependencies): Promise<WorkCounts | null> {
  try {
    return await countWork(deps.db);
  } catch (error) {
    if (isConnectionError(error)) return null;
    throw error;
  }
}
