import { countFleet } from '../../../control/fleet/count-fleet.ts';
import { type Fleet, FleetSchema } from '../../../domain/fleet/schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

/** So long all callers get the same counts, ms. */
const SHARED_MS = 1_000;

/** The fleet in numbers. */
export async function fleetRoutes(app: ApiServer, deps: Pick<ApiShared, 'db' | 'clock'>): Promise<void> {
  let last: { at: number; counts: Promise<Fleet> } | undefined;
  const counts = () => {
    const now = performance.now();
    if (last !== undefined && now - last.at < SHARED_MS) return last.counts;
    const counted = countFleet(deps);
    const mine = { at: now, counts: counted };
    last = mine;
    // What failed is tried again by the next caller.
    counted.catch(() => {
      if (last === mine) last = undefined;
    });
    return counted;
  };
  app.get(
    '/fleet',
    {
      schema: { tags: ['fleet'], summary: 'The fleet in numbers', response: { 200: FleetSchema } },
      config: { access: 'reader', class: 'list' },
    },
    counts,
  );
}
