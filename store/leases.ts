/** Leases: at most one session has a component. A session's leases go when its engine side ends (session-engine.ts). */
import { sql } from 'kysely';
import type { Db } from './database.ts';

/** A session that has components which another one wants, and how many of them. */
export interface LeaseHolder {
  session: string;
  components: number;
}

/**
 * Takes the leases that are free, in the order of ids, so that two who take the same ones wait for each other in turn and
 * never crosswise. Those that the session has already stay. Answers how many of them it has now.
 */
export async function insertLeases(
  trx: Db,
  sessionId: string,
  componentIds: readonly string[],
  now: Date,
): Promise<{ held: number; inserted: string[] }> {
  const { rows } = await sql<{ component_id: string }>`
    insert into component_leases (component_id, session_id, taken_at)
    select id, ${sessionId}::uuid, ${now}::timestamptz
    from (select distinct id collate "C" as id from unnest(${componentIds}::text[]) as id order by 1) wanted
    on conflict (component_id) do nothing returning component_id`.execute(trx);
  const inserted = rows.map((row) => row.component_id);
  // A statement of its own: it sees what was committed while the first one waited.
  const { rows: counted } = await sql<{ held: number }>`
    select count(*) as held from component_leases
    where session_id = ${sessionId} and component_id = any(${componentIds})`.execute(trx);
  return { held: counted[0]?.held ?? 0, inserted };
}

/** Gives back these leases of a session. */
export async function deleteLeases(trx: Db, sessionId: string, componentIds: readonly string[]): Promise<void> {
  await sql`delete from component_leases where session_id = ${sessionId} and component_id = any(${componentIds})`.execute(
    trx,
  );
}

/** Gives back all leases of a session; answers whether it had any. */
export async function releaseLeases(trx: Db, sessionId: string): Promise<boolean> {
  const result = await trx.deleteFrom('component_leases').where('session_id', '=', sessionId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Which other sessions have these components, the one with the most first. */
export async function leaseHolders(db: Db, sessionId: string, componentIds: readonly string[]): Promise<LeaseHolder[]> {
  const { rows } = await sql<LeaseHolder>`
    select s.name as session, count(*) as components
    from component_leases l join sessions s on s.id = l.session_id
    where l.component_id = any(${componentIds}) and l.session_id <> ${sessionId}
    group by s.id, s.name order by count(*) desc, s.name`.execute(db);
  return rows;
}

/** Of these components, those that a session has. */
export async function leasedComponents(db: Db, componentIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ component_id: string }>`
    select component_id from component_leases where component_id = any(${componentIds})`.execute(db);
  return rows.map((row) => row.component_id);
}
