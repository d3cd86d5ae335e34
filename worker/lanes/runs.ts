import { createRunActivities } from '../../activities/runs/activities.ts';
import { announceRunMachine } from '../../control/runs/announce-machine.ts';
import { sweepRunEnds } from '../../control/runs/end-run.ts';
import { SESSION_MACHINES } from '../../store/runs/run-machines.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** Single runs of this machine, and the word that this machine has some. */
export const runs: WorkerLane = (shared) => ({
  machine: createRunActivities(shared),
  sweep: () => sweepRunEnds(shared),
  background: [
    () => announceRunMachine(shared, { machine: shared.hostId, queue: shared.queue, kind: SESSION_MACHINES }),
  ],
});
