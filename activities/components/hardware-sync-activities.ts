import type { Client } from '@temporalio/client';
import { type SyncHardwareDependencies, syncHardware } from '../../control/components/sync-hardware.ts';
import { wantedHardwareSync } from '../../control/components/wanted-hardware-sync.ts';
import { tellOrThrow } from '../../control/temporal/tell.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { HardwareSyncActivities } from './contract.ts';

export interface HardwareSyncActivityDependencies extends SyncHardwareDependencies {
  client: Client;
  /** Where its workflow runs. */
  taskQueue: string;
}

/** The hardware sync: passes, and what keeps them coming. */
export function createHardwareSyncActivities(deps: HardwareSyncActivityDependencies): HardwareSyncActivities {
  return parseInputs<HardwareSyncActivities>(
    { syncHardware: null, ensureHardwareSync: null },
    {
      syncHardware: () => withHeartbeat((signal) => syncHardware(deps, signal)),
      ensureHardwareSync: () => tellOrThrow(deps.client, wantedHardwareSync(deps.taskQueue)),
    },
  );
}
