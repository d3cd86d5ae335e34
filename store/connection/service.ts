import { sql } from 'kysely';
import { OPEN_RUN_STATES } from '../../domain/runs/run-states.ts';
import type { Db } from './database.ts';

export interface WorkCounts {
  sessions: { pending: number; running: number; complete: number };
  /** Sessions that wait for a slot. */
  queue: number;
  /** Runs whose process may be there. */
  active_runs: number;
}

/** How much work there is now; deleted sessions do not count. */
export async function countWork(db: Db): Promise<WorkCounts> {
  const sessions = await db
    .selectFrom('sessions')
    .select((eb) => ['status', eb.fn.countAll<number>().as('count')])
    .where('deleted_at', 'is', null)
    .groupBy('status')
    .execute();
  const queue = await db
    .selectFrom('sessions')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('stage', '=', 'queued')
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  const runs = await db
    .selectFrom('runs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', 'in', OPEN_RUN_STATES)
    .executeTakeFirstOrThrow();
  const of = (status: string) => sessions.find((row) => row.status === status)?.count ?? 0;
  return {
    sessions: { pending: of('pending'), running: of('running'), complete: of('complete') },
    queue: queue.count,
    active_runs: runs.count,
  };
}

interface DatabaseFacts {
  /** Bytes. */
  size: number;
  /** To this database, of all processes. */
  connections: number;
  max_connections: number;
  /** The newest migration that it has; null: none. */
  schema: string | null;
}

/** What Postgres says of the database. */
export async function readDatabaseFacts(db: Db): Promise<DatabaseFacts> {
  const { rows } = await sql<DatabaseFacts>`
    select pg_database_size(current_database())::float8 as size,
      (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int as max_connections,
      (select max(name) from kysely_migration) as schema`.execute(db);
  const [facts] = rows;
  if (facts === undefined) throw new Error('Postgres says nothing of the database');
  return facts;
}
