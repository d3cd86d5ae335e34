import { createTrustActivities } from '../../activities/trust/activities.ts';
import { renewTrustNow } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** What sessions show to hosts. */
export const trust: WorkerLane = (shared) => ({
  main: createTrustActivities(shared),
  begin: [['Temporal', () => renewTrustNow(shared.client)]],
});
