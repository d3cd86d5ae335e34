import { AttentionSchema } from '../../../domain/fleet/attention-schema.ts';
import { FleetSchema } from '../../../domain/fleet/schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { SharedFleet } from './fleet-topics.ts';

/** The fleet in numbers. */
export async function fleetRoutes(app: ApiServer, shared: SharedFleet): Promise<void> {
  app.get(
    '/fleet',
    {
      schema: { tags: ['fleet'], summary: 'The fleet in numbers', response: { 200: FleetSchema } },
      config: { access: 'reader', class: 'list' },
    },
    () => shared.fleet(),
  );

  app.get(
    '/fleet/attention',
    {
      schema: {
        tags: ['fleet'],
        summary: 'What needs a person, the worst first',
        description:
          'Failed components by what they failed with, held sessions, stopped rollouts, sessions that wait for more than 5 min, batches that wait after a failure, schedules whose last run failed, drift, and what of Muster itself is not well: no worker, little disk, what is late.',
        response: { 200: AttentionSchema },
      },
      config: { access: 'reader', class: 'list' },
    },
    () => shared.attention(),
  );
}
