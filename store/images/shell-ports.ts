/** Ports of the shells of image jobs, on each machine. */
import { sql } from 'kysely';
import type { ShellPorts } from '../../domain/images/shell-ports.ts';
import type { Db } from '../connection/database.ts';

export interface WantedPort extends ShellPorts {
  queue: string;
  jobId: string;
  /** Ports that are left out. */
  avoid: readonly number[];
}

/**
 * Takes a port of a machine for a job: one that nobody has, and nobody had since `freeSince`; the one that was taken for it with its turn
 * first. Null when there is none.
 */
export async function takeImagePort(db: Db, wanted: WantedPort): Promise<number | null> {
  return db.transaction().execute((trx) => reserveImagePort(trx, wanted));
}

/** The same in this transaction. */
export async function reserveImagePort(trx: Db, wanted: WantedPort): Promise<number | null> {
  const { queue, jobId, from, to, freeSince, avoid } = wanted;
  // One after the other: two that chose the same port would leave one of them without.
  await sql`select pg_advisory_xact_lock(hashtext(${`image-port/${queue}`}))`.execute(trx);
  const own = await sql<{ port: number }>`
    select port from image_ports where queue = ${queue} and job_id = ${jobId} and released_at is null
      and port between ${from}::int and ${to}::int and port <> all(${[...avoid]}::int[])
    order by port limit 1
  `.execute(trx);
  if (own.rows[0] !== undefined) return own.rows[0].port;
  const { rows } = await sql<{ port: number }>`
    insert into image_ports (queue, port, job_id)
      select ${queue}, n, ${jobId} from generate_series(${from}::int, ${to}::int) as n
      where n <> all(${[...avoid]}::int[]) and not exists (
        select from image_ports where queue = ${queue} and port = n and (released_at is null or released_at > ${freeSince}))
      order by (select released_at from image_ports where queue = ${queue} and port = n) nulls first, n
      limit 1
    on conflict (queue, port) do update set job_id = excluded.job_id, released_at = null
      where image_ports.released_at <= ${freeSince}
    returning port
  `.execute(trx);
  return rows[0]?.port ?? null;
}

/** Takes a port for a job that had it before, also one that rests; answers false when it is another job's by now. */
export async function keepImagePort(db: Db, queue: string, port: number, jobId: string): Promise<boolean> {
  const kept = await db
    .insertInto('image_ports')
    .values({ queue, port, job_id: jobId })
    .onConflict((conflict) =>
      conflict.columns(['queue', 'port']).doUpdateSet({ released_at: null }).where('image_ports.job_id', '=', jobId),
    )
    .returning('port')
    .executeTakeFirst();
  return kept !== undefined;
}

/** Gives a port back that a job cannot use. */
export async function releaseImagePort(db: Db, queue: string, port: number, now: Date): Promise<void> {
  await db
    .updateTable('image_ports')
    .set({ released_at: now })
    .where('queue', '=', queue)
    .where('port', '=', port)
    .execute();
}

/** Gives back the ports of jobs that are over in every sense: a late try may have taken one again. */
export async function releaseLeftPorts(db: Db, now: Date): Promise<void> {
  await sql`
    update image_ports set released_at = ${now}
    where released_at is null and not exists (select from image_jobs where id = job_id and not cleaned)`.execute(db);
}
