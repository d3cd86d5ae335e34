import { createBatcherActivities } from '../../activities/batches/activities.ts';
import { followChanges } from '../../control/batches/follow-changes.ts';
import { ensureBatcher } from '../../control/batches/wake-batcher.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { keepRunning } from '../keep-running.ts';
import { every } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

// The worker itself looks each half minute (keep-running.ts). This is for a worker that does not.
export const BATCHER_SCHEDULE = every('muster-batcher', '10m', {
  workflowType: WORKFLOWS.ensureBatcher,
  workflowId: 'ensure-batcher',
  timeout: '15m',
  summary: 'starts the batcher where it does not run',
});

/** The batcher. */
export const batches: WorkerLane = (shared) => {
  const { client, database, log } = shared;
  const ensure = () => ensureBatcher(client);
  return {
    main: createBatcherActivities(shared),
    schedules: [BATCHER_SCHEDULE],
    begin: [['Temporal', ensure]],
    background: [() => keepRunning({ batcher: ensure }, log), () => followChanges({ client, database, log })],
  };
};
