import { createBatcherActivities } from '../../activities/batches/activities.ts';
import { followChanges } from '../../control/batches/follow-changes.ts';
import { wantedBatcher } from '../../control/batches/wanted-batcher.ts';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { every } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

// The sweep looks each minute. This is for the case that no worker keeps it running.
export const BATCHER_SCHEDULE = every('muster-batcher', '10m', {
  workflowType: WORKFLOWS.ensureBatcher,
  workflowId: 'ensure-batcher',
  timeout: '15m',
  summary: 'starts the batcher where it does not run',
});

/** The batcher. */
export const batches: WorkerLane = (shared) => ({
  main: createBatcherActivities(shared),
  schedules: [BATCHER_SCHEDULE],
  begin: [['Temporal', () => tellOrThrow(shared.client, wantedBatcher())]],
  sweep: () => shared.tell([wantedBatcher()]),
  background: [() => followChanges(shared)],
});
