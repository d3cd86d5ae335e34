import { z } from 'zod';
import type { ApiServer } from '../../server/api-server.ts';
import { readHealth } from '../../server/health.ts';
import type { ServiceApi } from './dependencies.ts';

const HealthWordSchema = z.enum(['ok', 'not_available']);
const HealthSchema = z.object({ db_status: HealthWordSchema, kafka_status: HealthWordSchema });

/**
 * Readiness and liveness; `kafka_status` is the workflow engine's health under CFS's name for it. 500 when both answer but
 * this process is not set up (cfs-api 4); the reason is in the status and in the log.
 */
export async function healthRoutes(app: ApiServer, deps: ServiceApi): Promise<void> {
  app.get(
    '/healthz',
    {
      schema: {
        tags: ['service'],
        summary: 'Health',
        response: { 200: HealthSchema, 500: HealthSchema, 503: HealthSchema },
      },
      config: { access: 'public', class: 'free' },
    },
    async (_request, reply) => {
      const { database, engine, setup } = await readHealth(deps);
      const word = ({ ok }: { ok: boolean }) => (ok ? ('ok' as const) : ('not_available' as const));
      const health = { db_status: word(database), kafka_status: word(engine) };
      const status = !database.ok || !engine.ok ? 503 : setup.ok ? 200 : 500;
      return reply.code(status).send(health);
    },
  );
}
