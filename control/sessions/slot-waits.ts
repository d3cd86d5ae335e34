import { describeSlotWait, NAMED_HOLDERS } from '../../domain/sessions/slot-wait.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { readSlots } from '../../store/sessions/admission.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';

/** What says of a session whether it waits for a slot. */
type Waiting = Pick<SessionRow, 'stage' | 'status' | 'reason' | 'message'>;

/**
 * Returns the sessions as a reader sees them. A session that waits for a slot names the sessions that have the slots now, and for how long. Its
 * record says only who had them when it asked.
 */
export async function withSlotWaits<Row extends Waiting>(db: Db, rows: readonly Row[], now: Date): Promise<Row[]> {
  if (!rows.some(waitsForSlot)) return [...rows];
  const [{ max_running_sessions: limit }, { taken, holders }] = await Promise.all([
    readOptions(db),
    readSlots(db, NAMED_HOLDERS),
  ]);
  if (limit === 0 || taken < limit) return [...rows];
  const message = describeSlotWait({ taken, limit, holders }, now);
  return rows.map((row) => (waitsForSlot(row) ? { ...row, message } : row));
}

const waitsForSlot = ({ stage, status, reason }: Waiting): boolean =>
  stage === 'queued' && status === 'pending' && reason === null;
