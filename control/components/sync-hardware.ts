import { type HardwareEntry, nodeIds } from '../../domain/components/hardware-sync.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import {
  createAbsentComponents,
  forgetHardwareSync,
  noteHardwarePass,
  readHardwareSync,
} from '../../store/components/hardware-sync.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';

export interface SyncHardwareDependencies {
  db: Db;
  clock(): Date;
  /** What the hardware manager knows; throws an error that says why it did not answer. Undefined where none is set. */
  listHardware: ListHardware | undefined;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

type ListHardware = (signal: AbortSignal) => Promise<HardwareEntry[]>;

export interface HardwareSyncStep {
  waitMs: number;
  summary: string;
}

/** Longest wait: an interval that is made shorter is noticed within that time. */
const LOOK_MS = 30_000;

/**
 * Makes components of the nodes that have none, when option `hardware_sync_interval` says that it is time; the option is read
 * each time. A hardware manager that does not answer is no error: the reason is stored, and the next pass asks again. Null
 * where none is set: then what was stored of the passes is forgotten.
 */
export async function syncHardware(
  deps: SyncHardwareDependencies,
  signal: AbortSignal,
): Promise<HardwareSyncStep | null> {
  const { db, listHardware } = deps;
  if (listHardware === undefined) {
    await forgetHardwareSync(db);
    return null;
  }
  const [{ hardware_sync_interval: interval }, before] = await Promise.all([readOptions(db), readHardwareSync(db)]);
  const at = deps.clock();
  const due = before === undefined ? 0 : before.lastPassAt.getTime() + interval * 1_000 - at.getTime();
  // A last pass in the future is that of a clock which has been set back since.
  if (due > 0 && due <= interval * 1_000) return { waitMs: waitOf(due), summary: summaryOf(before?.reason ?? null) };
  const outcome = await pass({ ...deps, listHardware }, signal);
  const reason = 'reason' in outcome ? outcome.reason : null;
  await noteHardwarePass(db, { at, interval, outcome });
  if (reason !== null && reason !== before?.reason)
    deps.log.warn({ reason }, 'hardware sync failed; it goes on trying');
  if (reason === null && (before?.reason ?? null) !== null) deps.log.info({}, 'hardware sync works again');
  return { waitMs: waitOf(at.getTime() + interval * 1_000 - deps.clock().getTime()), summary: summaryOf(reason) };
}

async function pass(
  deps: SyncHardwareDependencies & { listHardware: ListHardware },
  signal: AbortSignal,
): Promise<{ found: number; created: number } | { reason: string }> {
  let entries: HardwareEntry[];
  try {
    entries = await deps.listHardware(signal);
  } catch (error) {
    signal.throwIfAborted();
    return { reason: messageOf(error) };
  }
  const { ids, leftOut } = nodeIds(entries);
  const created = await createAbsentComponents(deps.db, ids, deps.clock());
  if (created > 0) deps.log.info({ created, leftOut }, 'components made of new nodes');
  return { found: ids.length, created };
}

const waitOf = (ms: number): number => Math.max(1_000, Math.min(LOOK_MS, ms));

function summaryOf(reason: string | null): string {
  return reason === null ? 'the last pass succeeded' : `the last pass failed: ${reason}`;
}
