import { createHardwareSyncActivities } from '../../activities/components/hardware-sync-activities.ts';
import type { Environment } from '../../config/environment.ts';
import { wantedHardwareSync } from '../../control/components/wanted-hardware-sync.ts';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { createHardwareList, type ListHardware } from '../../drivers/inventory/list-hardware.ts';
import { every } from '../schedules.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** The schedule of the hardware sync, which there is where a hardware manager is set. */
export const hardwareSyncSchedule = (wanted: boolean) =>
  every(
    'muster-hardware-sync',
    '10m',
    {
      workflowType: WORKFLOWS.ensureHardwareSync,
      workflowId: 'ensure-hardware-sync',
      timeout: '15m',
      summary: 'starts the hardware sync where it does not run',
    },
    { wanted },
  );

/** The hardware sync. */
export const components: WorkerLane = (shared) => {
  const { env, client, tell } = shared;
  const listHardware = hardwareList(env);
  const wanted = wantedHardwareSync(MAIN_QUEUE);
  return {
    main: createHardwareSyncActivities({ ...shared, listHardware, taskQueue: MAIN_QUEUE }),
    schedules: [hardwareSyncSchedule(listHardware !== undefined)],
    ...(listHardware === undefined
      ? {}
      : { begin: [['Temporal', () => tellOrThrow(client, wanted)]], sweep: () => tell([wanted]) }),
  };
};

/** What lists the nodes that become components; undefined where nothing does. */
function hardwareList(env: Environment): ListHardware | undefined {
  const { MUSTER_HARDWARE_SYNC_URL: baseUrl, MUSTER_CA_FILE: caFile } = env;
  return baseUrl === undefined ? undefined : createHardwareList({ baseUrl, ...(caFile ? { caFile } : {}) });
}
