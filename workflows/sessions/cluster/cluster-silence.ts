import { type ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import type { ClusterActivities } from '../../../activities/sessions/contract.ts';
import { NO_CLUSTER } from '../../../domain/sessions/cluster/cluster-wait.ts';
import type { Silence } from '../session-ending.ts';

/** What only a worker with a cluster takes up. */
const CLUSTER_WORK: ReadonlySet<string> = new Set<keyof ClusterActivities>([
  'prepareJob',
  'startJob',
  'watchJob',
  'runLayer',
  'awaitPlaybooks',
  'finishJob',
  'endJob',
]);

/** What the end of a session on a cluster says when nobody answered for an activity: whether there was a worker that could. */
export const clusterSilence: Silence = ({ activityType, cause }: ActivityFailure) => {
  const untaken = cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
  if (untaken && CLUSTER_WORK.has(activityType)) return { message: NO_CLUSTER, reason: 'runner_unavailable' };
  return { message: `${activityType} got no answer from a worker`, reason: 'runner_gone' };
};
