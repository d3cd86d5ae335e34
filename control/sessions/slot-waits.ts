import type { Kysely } from 'kysely';
import { describeSlotWait, NAMED_HOLDERS } from '../../domain/sessions/slot-wait.ts';
import { readOptions } from '../../store/configurations/options.ts';
import { readSlots } from '../../store/sessions/admission.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import type { Database } from '../../store/tables.ts';

/** What says of a session whether it waits for a slot. */
type Waiting = Pick<SessionRow, 'stage' | 'status' | 'reason' | 'message'>;

/**
 * The sessions as they are shown: of those that wait for a slot, who has the slots at this moment and for how long. What their records
 * say was so when they asked.
 */
export async function withSlotWaits<Row extends Waiting>(
  db: Kysely<Database>,
  rows: readonly Row[],
  now: Date,
): Promise<Row[]> {
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
