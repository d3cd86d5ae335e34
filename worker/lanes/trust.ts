import { createTrustActivities, createTrustSweep } from '../../activities/trust/activities.ts';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { wantedRenewal } from '../../control/trust/wanted-renewal.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { every } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

export const TRUST_SCHEDULE = every('muster-trust', '10m', {
  workflowType: WORKFLOWS.renewTrust,
  workflowId: 'trust',
  timeout: '15m',
  summary: 'renews the certificate with which sessions log in at hosts',
});

/** What sessions show to hosts. */
export const trust: WorkerLane = (shared) => ({
  main: createTrustActivities(shared),
  schedules: [TRUST_SCHEDULE],
  // Hosts ask for the key of the authority.
  begin: [['Temporal', () => tellOrThrow(shared.client, wantedRenewal())]],
  sweep: createTrustSweep(shared),
});
