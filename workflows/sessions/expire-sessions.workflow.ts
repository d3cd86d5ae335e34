/**
 * Time-to-live of sessions (cfs-api 10), started by a Schedule every two minutes.
 *
 *  1. delete complete sessions that are older than option session_ttl
 *
 * History: 11 events.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { ExpiryActivities } from '../../activities/sessions/contract.ts';

const { expireSessions } = proxyActivities<ExpiryActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '30s',
  retry: { maximumAttempts: 3 },
});

export async function expireSessionsWorkflow(): Promise<void> {
  await expireSessions();
}
