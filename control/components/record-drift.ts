import { warningOf } from '../../domain/runs/warning-of.ts';
import { type DriftReport, reportDrift } from '../../store/components/drift.ts';
import type { Db } from '../../store/connection/database.ts';
import { unknownHosts } from '../../store/runs/host-results.ts';
import { markRunRecorded } from '../../store/runs/runs.ts';
import { appendEvents } from '../../store/runs/streams.ts';
import { COUNTED_HOSTS, hostsWarning } from './record-layer.ts';

export interface DriftRecord extends Omit<DriftReport, 'now'> {
  streamId: string;
  attempt: number;
}

/**
 * Records what a check found on the components of its run: one transaction, once per run however often it is called. Of the
 * components themselves nothing changes. Hosts without a component are left out and named in an event.
 */
export async function recordDrift(db: Db, record: DriftRecord, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await markRunRecorded(trx, record.runId, now))) return;
    await reportDrift(trx, { ...record, now });
    const unknown = await unknownHosts(trx, record.runId, COUNTED_HOSTS);
    await appendEvents(
      trx,
      { ...record, runId: null },
      hostsWarning('not recorded, no such component', unknown).map((message) => warningOf(message, now)),
    );
  });
}
