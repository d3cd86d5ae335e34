import { warningOf } from '../../domain/runs/warning-of.ts';
import { someOf } from '../../domain/some-of.ts';
import { lockComponents, updateComponents } from '../../store/components/components.ts';
import { forgetDrift } from '../../store/components/drift.ts';
import { reportLayer } from '../../store/components/report-layer.ts';
import type { Db } from '../../store/connection/database.ts';
import { unknownHosts } from '../../store/runs/host-results.ts';
import { markRunRecorded } from '../../store/runs/runs.ts';
import { appendEvents } from '../../store/runs/streams.ts';
import { fitComponents } from './fit-components.ts';

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

/** Hosts that a warning counts at most; it names few of them. */
export const COUNTED_HOSTS = 10_000;

/**
 * Records what the run's hosts reached on their components: one transaction, once per run however often it is called.
 * What checks found there before is forgotten. Hosts without a component are left out and named in an event (cfs-flows 4.4), those that booted meanwhile in another one.
 */
export async function recordLayer(db: Db, record: LayerRecord, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await markRunRecorded(trx, record.runId, now))) return;
    const reported = await reportLayer(trx, { ...record, now });
    await forgetDrift(trx, record);
    const shortened = await shorten(
      trx,
      reported.flatMap(({ id, isLarge }) => (isLarge ? [id] : [])),
      record.sessionName,
      now,
    );
    const booted = reported.filter(({ hasBooted }) => hasBooted).map(({ id }) => id);
    const messages = [
      ...hostsWarning('not recorded, no such component', await unknownHosts(trx, record.runId, COUNTED_HOSTS)),
      ...hostsWarning('recorded as incomplete, booted since the session began', booted.sort()),
      ...hostsWarning('recorded in place of the oldest entries of others, the component is full', shortened),
    ];
    if (messages.length === 0) return;
    await appendEvents(
      trx,
      { ...record, runId: null },
      messages.map((message) => warningOf(message, now)),
    );
  });
}

/** Makes room in components that others had filled to their bounds; answers the ids of those that lost entries, sorted. */
async function shorten(trx: Db, ids: string[], session: string, now: Date): Promise<string[]> {
  if (ids.length === 0) return [];
  const stored = [...(await lockComponents(trx, ids)).values()].map(({ component }) => component);
  const fitted = await fitComponents(trx, stored, session);
  const shorter = fitted.filter((component, index) => component.state.length < (stored[index]?.state.length ?? 0));
  if (shorter.length > 0) {
    await updateComponents(trx, shorter, { now, actor: `session/${session}`, members: new Set(['state']) });
  }
  return shorter.map(({ id }) => id).sort();
}

/** A warning that names hosts, none for none. */
export function hostsWarning(what: string, hosts: readonly string[]): string[] {
  if (hosts.length === 0) return [];
  return [`${what}: ${someOf(hosts)}`];
}
