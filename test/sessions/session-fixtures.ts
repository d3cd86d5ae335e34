/** Sessions with streams and runs as the engine would leave them, for tests of what reads them. */

import type { HostResult, HostStatus } from '../../domain/runs/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { insertHostResults } from '../../store/runs/host-results.ts';
import { ensureRun, markRunEnded } from '../../store/runs/runs.ts';
import { appendEvents, appendOutput } from '../../store/runs/streams.ts';
import { writeEnd } from '../../store/sessions/write-end.ts';

/** Stores a configuration with so many layers, named l0, l1 ..., each with a commit. */
export async function addConfiguration(db: Db, name: string, layers = 2): Promise<void> {
  const record = {
    name,
    last_updated: '2026-11-21T09:00:00Z',
    layers: Array.from({ length: layers }, (_, index) => ({
      name: `l${index}`,
      clone_url: 'https://git.example/a.git',
      playbook: `p${index}.yml`,
      commit: String(index).repeat(40),
    })),
  };
  await db
    .insertInto('configurations')
    .values({ name, record: JSON.stringify(record), updated_at: new Date(), actor: null })
    .execute();
}

export async function sessionId(db: Db, name: string): Promise<string> {
  const row = await db
    .selectFrom('sessions')
    .select('id')
    .where('name', '=', name)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Sets columns of a session as the engine would. */
export async function setSession(db: Db, id: string, values: Record<string, unknown>): Promise<void> {
  await db.updateTable('sessions').set(values).where('id', '=', id).execute();
}

export interface FixtureResult {
  host: string;
  status: HostStatus;
}

/** What a host reached by one task. */
export const hostResult = (host: string, status: HostStatus): HostResult => ({
  host,
  status,
  ok: 1,
  changed: 0,
  failures: status === 'failed' ? 1 : 0,
  unreachable: 0,
  skipped: 0,
  rescued: 0,
  ignored: 0,
});

/** A run of a layer with one event per host and, unless lost, its results and exit status. */
export async function addRun(
  db: Db,
  id: string,
  run: { layer: number; attempt?: number; exitCode: number | null; results: FixtureResult[] },
): Promise<string> {
  const { layer, attempt = 1, exitCode, results } = run;
  const runId = `${id}-${attempt}-${layer}`;
  await ensureRun(db, { id: runId, sessionId: id, streamId: id, layer, attempt, host: 'disk' }, new Date());
  await addResults(
    db,
    { id, layer, attempt },
    results.map(({ host, status }) => ({ host, task: 't', result: status === 'failed' ? 'failed' : 'ok' })),
  );
  if (exitCode !== null) {
    await insertHostResults(
      db,
      { runId, sessionId: id, layer, attempt },
      results.map(({ host, status }) => hostResult(host, status)),
    );
  }
  await markRunEnded(db, runId, exitCode === null ? 'lost' : 'ended', exitCode, new Date());
  return runId;
}

/** Task results as events of a layer's run, one line each from `firstLine` on. */
export async function addResults(
  db: Db,
  place: { id: string; layer: number; attempt?: number; firstLine?: number },
  results: { host: string; task: string; result: string; [key: string]: unknown }[],
): Promise<void> {
  const { id, layer, attempt = 1, firstLine = 1 } = place;
  await appendEvents(
    db,
    { streamId: id, runId: `${id}-${attempt}-${layer}`, layer, attempt },
    results.map(({ host, ...data }, index) => ({
      time: new Date(),
      type: 'host_result',
      host,
      line: firstLine + index,
      data,
    })),
  );
}

/** A piece of output of a layer's run. */
export async function addOutput(db: Db, id: string, layer: number, start: number, text: string): Promise<void> {
  await appendOutput(db, { streamId: id, runId: `${id}-1-${layer}`, layer, attempt: 1 }, start, text);
}

/** Ends a session as the engine does. */
export async function endSession(db: Db, id: string, succeeded: 'true' | 'false' | 'unknown'): Promise<void> {
  await writeEnd(db, id, { succeeded, message: `ended ${succeeded}`, reason: null }, new Date());
}
