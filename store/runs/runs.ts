/** Runs: one launched playbook each, whichever lane owns it. */
import { type RawBuilder, sql } from 'kysely';
import { type Owner, ownerOf, SESSION_KIND } from '../../domain/runs/owner.ts';
import { isRunOver, OPEN_RUN_STATES, type RunEndState, type RunState } from '../../domain/runs/run-states.ts';
import type { RunCursor } from '../../domain/runs/runner.ts';
import type { Db } from '../connection/database.ts';
import { literals } from '../connection/literals.ts';
import { countOne, insertDuration } from '../connection/tallies.ts';
import { deleteStream } from './streams.ts';

export interface NewRun {
  id: string;
  /** The session that it belongs to; null for a run of another owner. */
  sessionId: string | null;
  /** Its owner when that is no session. */
  owner?: Owner | null;
  streamId: string;
  layer: number;
  attempt: number;
  host: string;
}

export interface RunRow extends NewRun {
  /** Its owner, a session too; null for a run that belongs to nothing. */
  owner: Owner | null;
  state: RunState;
  exitCode: number | null;
  /** Why Ansible ended it, in its own words; null where it did not say. */
  error: string | null;
  /** How far its files are stored. */
  cursor: RunCursor;
}

/** Records that a run is about to be started. Returns the run, as it is when it was recorded before. */
export async function ensureRun(db: Db, run: NewRun, now: Date): Promise<RunRow> {
  await db
    .insertInto('runs')
    .values({
      id: run.id,
      session_id: run.sessionId,
      owner_kind: run.sessionId === null ? (run.owner?.kind ?? null) : null,
      owner_id: run.sessionId === null ? (run.owner?.id ?? null) : null,
      stream_id: run.streamId,
      layer: run.layer,
      attempt: run.attempt,
      host: run.host,
      state: 'created',
      created_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await findRun(db, run.id);
  if (row === null) throw new Error(`run ${run.id} vanished`);
  return row;
}

/** Returns the run as it stands, or null when it was never opened. */
export async function findRun(db: Db, id: string): Promise<RunRow | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return null;
  return {
    id: row.id,
    sessionId: row.session_id,
    owner: ownerOf({ sessionId: row.session_id, ownerKind: row.owner_kind, ownerId: row.owner_id }),
    streamId: row.stream_id,
    layer: row.layer,
    attempt: row.attempt,
    host: row.host,
    state: row.state,
    exitCode: row.exit_code,
    error: row.error,
    cursor: { lines: row.event_lines, eventBytes: row.event_bytes, outputBytes: row.output_bytes },
  };
}

/** The run, held until the end of the transaction: whoever adds to it next, waits. */
export async function holdRun(db: Db, id: string): Promise<RunRow | null> {
  await db.selectFrom('runs').select('id').where('id', '=', id).forUpdate().execute();
  return findRun(db, id);
}

/** The run's process was seen; a run that ended stays ended. */
export async function markRunStarted(db: Db, id: string, now: Date): Promise<void> {
  const started = sql`
    with started as (
      update runs set state = 'started', started_at = ${now} where id = ${id} and state = 'created'
      returning extract(epoch from started_at - created_at) as seconds
    ) ${insertDuration('run_schedule_to_start', sql`select seconds from started`)}`;
  await started.execute(db);
}

/**
 * Moves the cursor from where the caller read it, and notes how late the newest event is, `lagMs`; false when somebody else
 * moved it meanwhile.
 */
export async function moveRunCursor(
  db: Db,
  id: string,
  from: RunCursor,
  to: RunCursor,
  lagMs?: number,
): Promise<boolean> {
  const result = await db
    .updateTable('runs')
    .set({
      event_lines: to.lines,
      event_bytes: to.eventBytes,
      output_bytes: to.outputBytes,
      ...(lagMs === undefined ? {} : { event_lag_ms: lagMs }),
    })
    .where('id', '=', id)
    .where('event_lines', '=', from.lines)
    .where('output_bytes', '=', from.outputBytes)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Writes the end of a run once, and counts a lost one; `exitCode` null for a lost one. Answers whether this call wrote it. */
export async function markRunEnded(
  db: Db,
  id: string,
  state: RunEndState,
  exitCode: number | null,
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable('runs')
    .set({ state, exit_code: exitCode, ended_at: now })
    .where('id', '=', id)
    .where('state', 'in', OPEN_RUN_STATES)
    .returning('owner_kind')
    .executeTakeFirst();
  if (result !== undefined && state === 'lost') await countOne(db, 'runs_lost', result.owner_kind ?? 'session');
  return result !== undefined;
}

/** Why Ansible ended the run, in its own words. */
export async function noteRunError(db: Db, id: string, error: string): Promise<void> {
  await db.updateTable('runs').set({ error }).where('id', '=', id).execute();
}

/** Marks every run whose end is not on record as lost; answers how many there were. */
export async function markOpenRunsLost(db: Db, now: Date): Promise<number> {
  const lost = await db
    .updateTable('runs')
    .set({ state: 'lost', exit_code: null, ended_at: now })
    .where('state', 'in', OPEN_RUN_STATES)
    .returning('owner_kind')
    .execute();
  for (const { owner_kind } of lost) await countOne(db, 'runs_lost', owner_kind ?? 'session');
  return lost.length;
}

/** Whether any run of the session may have executed something. */
export async function sessionHasRuns(db: Db, sessionId: string): Promise<boolean> {
  const row = await db.selectFrom('runs').select('id').where('session_id', '=', sessionId).executeTakeFirst();
  return row !== undefined;
}

/** A run as the clean-up of its machine sees it. */
export interface MachineRun {
  id: string;
  owner: Owner | null;
  /** Whether its end is not on record. */
  isOpen: boolean;
}

/** The runs of a machine. */
export async function runsOfMachine(db: Db, machine: string): Promise<MachineRun[]> {
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'state', 'session_id as sessionId', 'owner_kind as ownerKind', 'owner_id as ownerId'])
    .where('host', '=', machine)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    owner: ownerOf(row),
    isOpen: !isRunOver(row.state),
  }));
}

/** Runs of a session whose end is not on record. */
export async function openSessionRuns(db: Db, sessionId: string): Promise<RunRow[]> {
  return sessionRuns(db, sessionId, sql<boolean>`state in ${literals(OPEN_RUN_STATES)}`);
}

/** Runs of a session whose results are not recorded on components. */
export async function unrecordedRuns(db: Db, sessionId: string): Promise<RunRow[]> {
  return sessionRuns(db, sessionId, sql<boolean>`recorded_at is null`);
}

async function sessionRuns(db: Db, sessionId: string, condition: RawBuilder<boolean>): Promise<RunRow[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('session_id', '=', sessionId)
    .where(condition)
    .orderBy('attempt')
    .orderBy('layer')
    .execute();
  const runs = await Promise.all(rows.map(({ id }) => findRun(db, id)));
  return runs.filter((run) => run !== null);
}

/** Marks the run as recorded; false when it was before, so that its results count once. */
export async function markRunRecorded(db: Db, id: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('runs')
    .set({ recorded_at: now })
    .where('id', '=', id)
    .where('recorded_at', 'is', null)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Removes the runs of an owner with their host results, tokens and streams of their own. Returns the ids of the runs. */
export async function deleteRuns(db: Db, owner: Owner): Promise<string[]> {
  const rows = await db.selectFrom('runs').select(['id', 'stream_id']).where(ownedBy(owner)).execute();
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  for (const table of ['host_results', 'unreached_hosts', 'run_tokens'] as const) {
    await db.deleteFrom(table).where('run_id', 'in', ids).execute();
  }
  for (const { id, stream_id } of rows) if (id === stream_id) await deleteStream(db, id);
  await db.deleteFrom('runs').where('id', 'in', ids).execute();
  return ids;
}

/** Runs of an owner whose end is not on record. */
export async function openRunsOf(db: Db, owner: Owner): Promise<RunRow[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where(ownedBy(owner))
    .where('state', 'in', OPEN_RUN_STATES)
    .orderBy('attempt')
    .execute();
  const runs = await Promise.all(rows.map(({ id }) => findRun(db, id)));
  return runs.filter((run) => run !== null);
}

function ownedBy({ kind, id }: Owner): RawBuilder<boolean> {
  return kind === SESSION_KIND
    ? sql<boolean>`session_id = ${id}`
    : sql<boolean>`owner_kind = ${kind} and owner_id = ${id}`;
}
