import type { Options } from '../../domain/configurations/schema.ts';
import { requestLeases, takesLeases } from '../../store/components/leases.ts';
import type { Db } from '../../store/connection/database.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { rewordLeaseWaits } from './reword-lease-waits.ts';

/**
 * Whether the session has to take leases before it runs; what it needs is on record then. One that was sent with its leases
 * has them, unless it gave way to an older session. Any other takes part only while option `allow_overlap` is false, for
 * those of the hosts that its limit matches which are components; one on images has none.
 */
export async function noteNeededComponents(
  { db, readOptions }: { db: Db; readOptions(): Promise<Options> },
  session: SessionRow,
  findHosts: () => Promise<string[]>,
): Promise<boolean> {
  const { has, waits } = await takesLeases(db, session.id);
  if (waits) return true;
  // It gave way to none while it had no slot; now others wait for it.
  if (has) await rewordLeaseWaits(db, session.id);
  if (has || session.target.definition === 'image' || (await readOptions()).allow_overlap) return false;
  return (await requestLeases(db, session.id, await findHosts())) > 0;
}
