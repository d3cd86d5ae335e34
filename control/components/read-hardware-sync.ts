import { type HardwareSyncRecord, hardwareSyncTrouble } from '../../domain/components/hardware-sync.ts';
import type { HardwareSyncView } from '../../domain/components/hardware-sync-schema.ts';
import { readHardwareSync as readRecord } from '../../store/components/hardware-sync.ts';
import type { Db } from '../../store/connection/database.ts';

/** How the hardware sync stands; null where there is none. */
export async function readHardwareSync(deps: { db: Db; clock(): Date }): Promise<HardwareSyncView | null> {
  const record = await readRecord(deps.db);
  return record === undefined ? null : viewOf(record, deps.clock());
}

function viewOf(record: HardwareSyncRecord, now: Date): HardwareSyncView {
  const reason = hardwareSyncTrouble(record, now);
  return {
    ok: reason === null,
    reason,
    last_pass_at: record.lastPassAt.toISOString(),
    last_success_at: record.lastSuccessAt?.toISOString() ?? null,
    interval: record.interval,
    nodes: record.found,
    created: record.created,
  };
}
