import { countFleet } from '../../../control/fleet/count-fleet.ts';
import { listAttention } from '../../../control/fleet/list-attention.ts';
import { AttentionSchema } from '../../../domain/fleet/attention-schema.ts';
import { FleetSchema } from '../../../domain/fleet/schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';
import { sharedAnswer } from './shared-answer.ts';

/** So long all callers get the same counts, and the same list of what needs attention, ms. */
const [SHARED_MS, ATTENTION_SHARED_MS] = [1_000, 3_000];

/** The fleet in numbers. */
export async function fleetRoutes(app: ApiServer, deps: Pick<ApiShared, 'db' | 'clock'>): Promise<void> {
  app.get(
    '/fleet',
    {
      schema: { tags: ['fleet'], summary: 'The fleet in numbers', response: { 200: FleetSchema } },
      config: { access: 'reader', class: 'list' },
    },
    sharedAnswer(() => countFleet(deps), SHARED_MS),
  );

  app.get(
    '/fleet/attention',
    {
      schema: {
        tags: ['fleet'],
        summary: 'What needs a person, the worst first',
        description:
          'Failed components by what they failed with, held sessions, stopped rollouts, batches that wait after a failure, schedules whose last run failed.',
        response: { 200: AttentionSchema },
      },
      config: { access: 'reader', class: 'list' },
    },
    sharedAnswer(() => listAttention(deps), ATTENTION_SHARED_MS),
  );
}
