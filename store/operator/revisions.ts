/** Texts that differ whenever operators and their resources have changed: for readers who then read again. */
import { sql } from 'kysely';
import { SEEN_MS } from '../../domain/operator/resource-words.ts';
import type { Db } from '../connection/database.ts';
import { newestRows } from '../connection/newest-rows.ts';
import { shownPhase } from './reads.ts';
import { placesOf, shownReason } from './waits.ts';

/**
 * Returns the revision of all operators, what they watch, and their resources. Signs of life count when they begin or cease, and once a minute; the
 * lease of a watcher when it changes hands.
 */
export async function readOperatorsRevision(db: Db, now: Date): Promise<string> {
  const lives = sql`seen_at > ${now}::timestamptz - make_interval(secs => ${SEEN_MS / 1000})`;
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ',
      (select md5(string_agg(concat_ws('/', name, version, home, stopped_at,
        case when watch_lease_until > ${now} then watcher end), ',' order by name)) from operators),
      (select md5(string_agg(concat_ws('/', operator, machine, version, slots, engine_reason, ${lives},
        date_trunc('minute', seen_at)), ',' order by operator, machine)) from operator_processes where left_at is null),
      (select md5(string_agg(concat_ws('/', operator, api_group, version, kind, state, reason, slots, finalizer), ','
        order by operator, api_group, version, kind)) from operator_watches),
      (select concat(count(*), '/', max(noted_at), '/', count(reason)) from operator_dependents),
      ${newestRows(sql`operator_resources order by updated_at desc`)}) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}

/** Returns the revision of one resource as it is shown now, with its reconciles; without them when there is none of the id. */
export async function readResourceRevision(db: Db, id: string, now: Date): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ',
      (select concat_ws(' ', r.xmin::text, ${shownPhase(now)}, ${shownReason(now)}) from operator_resources r ${placesOf(now)}
        where r.id = ${id}::uuid),
      ${newestRows(sql`operator_reconciles where resource_id = ${id}::uuid order by started_at desc`)}) as revision`.execute(
    db,
  );
  return rows[0]?.revision ?? '';
}

/** Returns the revision of one reconcile with what its run has put out. */
export async function readReconcileRevision(db: Db, id: string, run: string): Promise<string> {
  const { rows } = await sql<{ revision: string }>`
    select concat_ws(' ', (select xmin::text from operator_reconciles where id = ${id}::uuid),
      (select concat(next_event, '/', next_chunk) from streams where id = ${run})) as revision`.execute(db);
  return rows[0]?.revision ?? '';
}
