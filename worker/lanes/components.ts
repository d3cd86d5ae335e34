import { createHardwareSyncActivities } from '../../activities/components/hardware-sync-activities.ts';
import type { Environment } from '../../config/environment.ts';
import { ensureHardwareSync } from '../../control/components/ensure-hardware-sync.ts';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { createHardwareList, type ListHardware } from '../../drivers/inventory/list-hardware.ts';
import { keepRunning } from '../keep-running.ts';
import type { WorkerLane } from '../shared/open-shared.ts';

/** The hardware sync. */
export const components: WorkerLane = (shared) => {
  const { env, client, log } = shared;
  const listHardware = hardwareList(env);
  const ensure = () => ensureHardwareSync(client, MAIN_QUEUE);
  return {
    main: createHardwareSyncActivities({ ...shared, listHardware, taskQueue: MAIN_QUEUE }),
    ...(listHardware === undefined
      ? {}
      : { begin: [['Temporal', ensure]], background: [() => keepRunning({ 'hardware sync': ensure }, log)] }),
  };
};

/** What lists the nodes that become components; undefined where nothing does. */
function hardwareList(env: Environment): ListHardware | undefined {
  const { MUSTER_HARDWARE_SYNC_URL: baseUrl, MUSTER_CA_FILE: caFile } = env;
  return baseUrl === undefined ? undefined : createHardwareList({ baseUrl, ...(caFile ? { caFile } : {}) });
}
