import { countFleet } from '../../../control/fleet/count-fleet.ts';
import { FleetSchema } from '../../../domain/fleet/schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';
import { sharedAnswer } from './shared-answer.ts';

/** So long all callers get the same counts, ms. */
const SHARED_MS = 1_000;

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
}
