/** Runs as their readers see them. */
import { sql } from 'kysely';
import { type Owner, ownerOf } from '../../domain/runs/owner.ts';
import type { RunStreamEnd } from '../../domain/runs/run-schema.ts';
import { isRunOver, type RunState } from '../../domain/runs/run-states.ts';
import type { StreamState } from '../../domain/runs/stream-schema.ts';
import type { Db } from '../connection/database.ts';

export interface ReadRun {
  id: string;
  owner: Owner | null;
  /** Name of its owner; null where owners of its kind have none. */
  ownerName: string | null;
  streamId: string;
  layer: number;
  attempt: number;
  machine: string;
  state: RunState;
  exitStatus: number | null;
  error: string | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  hosts: number;
  failedHosts: number;
}

interface Row extends Omit<ReadRun, 'owner'> {
  sessionId: string | null;
  ownerKind: string | null;
  ownerId: string | null;
}

/** A run with the number of its hosts, or null. */
export async function readRunWithHosts(db: Db, id: string): Promise<ReadRun | null> {
  const { rows } = await sql<Row>`
    select r.id, r.session_id as "sessionId", r.owner_kind as "ownerKind", r.owner_id as "ownerId", s.name as "ownerName",
      r.stream_id as "streamId", r.layer, r.attempt, r.host as machine, r.state, r.exit_code as "exitStatus", r.error,
      r.created_at as "createdAt", r.started_at as "startedAt", r.ended_at as "endedAt",
      h.hosts, h.failed as "failedHosts"
    from runs r left join sessions s on s.id = r.session_id
    cross join lateral (
      select count(*)::int as hosts, (count(*) filter (where status = 'failed'))::int as failed
      from host_results where run_id = r.id
    ) h
    where r.id = ${id}
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { sessionId, ownerKind, ownerId, ...run } = row;
  return { ...run, owner: ownerOf({ sessionId, ownerKind, ownerId }) };
}

/** How far the stream of a run can be read; null when the run is in no record. */
export async function readRunState(db: Db, id: string): Promise<StreamState<RunStreamEnd> | null> {
  const { rows } = await sql<{
    state: RunState;
    exitStatus: number | null;
    error: string | null;
    lastEvent: number;
    lastChunk: number;
  }>`
    select r.state, r.exit_code as "exitStatus", r.error,
      coalesce(t.next_event, 1) - 1 as "lastEvent", coalesce(t.next_chunk, 1) - 1 as "lastChunk"
    from runs r left join streams t on t.id = r.stream_id where r.id = ${id}
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const { state, exitStatus, error, lastEvent, lastChunk } = row;
  return {
    lastEvent,
    lastChunk,
    over: isRunOver(state),
    deleted: false,
    end: { id, state, exit_status: exitStatus, error, deleted: false },
  };
}

/** Whether a run of a session has ended and all that it left is stored. */
export async function isRunRecorded(db: Db, sessionId: string, layer: number, attempt: number): Promise<boolean> {
  const run = await db
    .selectFrom('runs')
    .select('id')
    .where('session_id', '=', sessionId)
    .where('layer', '=', layer)
    .where('attempt', '=', attempt)
    .where('recorded_at', 'is not', null)
    .executeTakeFirst();
  return run !== undefined;
}
