import type { Client } from '@temporalio/client';
import { ensureHardwareSync } from '../../control/components/ensure-hardware-sync.ts';
import { type SyncHardwareDependencies, syncHardware } from '../../control/components/sync-hardware.ts';
import { forgetHardwareSync } from '../../store/hardware-sync.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { HardwareSyncActivities } from './contract.ts';

export interface HardwareSyncActivityDependencies extends Omit<SyncHardwareDependencies, 'listHardware'> {
  client: Client;
  /** Undefined where no hardware manager is set. */
  listHardware: SyncHardwareDependencies['listHardware'] | undefined;
}

/** The hardware sync: passes, and what keeps them coming. */
export function createHardwareSyncActivities(deps: HardwareSyncActivityDependencies): HardwareSyncActivities {
  const { listHardware } = deps;
  return {
    syncHardware: () =>
      withHeartbeat(async (signal) => {
        if (listHardware !== undefined) return syncHardware({ ...deps, listHardware }, signal);
        await forgetHardwareSync(deps.db);
        return null;
      }),
    ensureHardwareSync: () => ensureHardwareSync(deps.client),
  };
}
