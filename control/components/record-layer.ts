import type { Kysely } from 'kysely';
import { reportLayer, unknownHosts } from '../../store/host-results.ts';
import { markRunRecorded } from '../../store/runs.ts';
import { appendEvents } from '../../store/streams.ts';
import type { Database } from '../../store/tables.ts';

export interface LayerRecord {
  runId: string;
  streamId: string;
  layer: number;
  attempt: number;
  sessionName: string;
  cloneUrl: string;
  playbook: string;
  commit: string;
}

/** Unknown hosts that the warning names at most. */
const NAMED = 20;

/**
 * Records what the run's hosts reached on their components: one transaction, once per run however often it is called.
 * Hosts without a component are left out and named in an event (cfs-flows 4.4).
 */
export async function recordLayer(db: Kysely<Database>, record: LayerRecord): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await markRunRecorded(trx, record.runId))) return;
    const now = new Date();
    await reportLayer(trx, { ...record, now });
    const unknown = await unknownHosts(trx, record.runId, NAMED + 1);
    if (unknown.length === 0) return;
    const names = unknown.slice(0, NAMED).join(', ');
    const message = `not recorded, no such component: ${names}${unknown.length > NAMED ? ', ...' : ''}`;
    await appendEvents(trx, { ...record, runId: null }, [
      { time: now, type: 'warning', host: null, line: null, data: { message } },
    ]);
  });
}
