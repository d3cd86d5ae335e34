import type { Client } from '@temporalio/client';
import { createTrustActivities } from '../../activities/trust/activities.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { every } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

const SCHEDULE_ID = 'muster-trust';
export const TRUST_SCHEDULE = every(SCHEDULE_ID, '10m', {
  workflowType: WORKFLOWS.renewTrust,
  workflowId: 'trust',
  timeout: '15m',
  summary: 'renews the certificate with which sessions log in at hosts',
});

/** Renews what sessions show to hosts now, and not only in some minutes: hosts ask for the authority's key. */
export async function renewTrustNow(client: Client): Promise<void> {
  await client.schedule.getHandle(SCHEDULE_ID).trigger();
}

/** What sessions show to hosts. */
export const trust: WorkerLane = (shared) => ({
  main: createTrustActivities(shared),
  schedules: [TRUST_SCHEDULE],
  begin: [['Temporal', () => renewTrustNow(shared.client)]],
});
