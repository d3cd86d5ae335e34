import type { Kysely } from 'kysely';
import { forgetDrift } from '../../store/drift.ts';
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

/** Hosts that a warning names at most. */
export const NAMED_HOSTS = 20;

/**
 * Records what the run's hosts reached on their components: one transaction, once per run however often it is called.
 * What checks found there before is forgotten. Hosts without a component are left out and named in an event (cfs-flows 4.4), those that booted meanwhile in another one.
 */
export async function recordLayer(db: Kysely<Database>, record: LayerRecord): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await markRunRecorded(trx, record.runId))) return;
    const now = new Date();
    const reported = await reportLayer(trx, { ...record, now });
    await forgetDrift(trx, record);
    const booted = reported.filter(({ hasBooted }) => hasBooted).map(({ id }) => id);
    const messages = [
      ...hostsWarning('not recorded, no such component', await unknownHosts(trx, record.runId, NAMED_HOSTS + 1)),
      ...hostsWarning('recorded as incomplete, booted since the session began', booted.sort()),
    ];
    if (messages.length === 0) return;
    await appendEvents(
      trx,
      { ...record, runId: null },
      messages.map((message) => ({ time: now, type: 'warning', host: null, line: null, data: { message } })),
    );
  });
}

/** A warning that names hosts, none for none. */
export function hostsWarning(what: string, hosts: readonly string[]): string[] {
  if (hosts.length === 0) return [];
  return [`${what}: ${hosts.slice(0, NAMED_HOSTS).join(', ')}${hosts.length > NAMED_HOSTS ? ', ...' : ''}`];
}
