import { createBatcherActivities } from '../../activities/batches/activities.ts';
import { followChanges } from '../../control/batches/follow-changes.ts';
import { ensureBatcher } from '../../control/batches/wake-batcher.ts';
import { keepRunning } from '../keep-running.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** The batcher. */
export const batches: WorkerLane = (shared) => {
  const { client, database, log } = shared;
  const ensure = () => ensureBatcher(client);
  return {
    main: createBatcherActivities(shared),
    begin: [['Temporal', ensure]],
    background: [() => keepRunning({ batcher: ensure }, log), () => followChanges({ client, database, log })],
  };
};
