/**
 * Keeps the certificate of sessions valid, started by a Schedule every ten minutes and at each start of a worker.
 *
 *  1. renew what is due of authority, certificate and what is published
 *
 * History: 11 events.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { TrustActivities, TrustRenewal } from '../../activities/trust/contract.ts';

const { renewTrust } = proxyActivities<TrustActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '30s',
  retry: { initialInterval: '2s', maximumInterval: '30s', maximumAttempts: 5 },
});

export async function renewTrustWorkflow(): Promise<TrustRenewal> {
  return renewTrust();
}
