/** Keys of batches that a fault of the controller holds. */
import { sql } from 'kysely';
import type { ControllerHold } from '../../domain/batches/controller-hold.ts';
import type { Db } from '../connection/database.ts';

export interface HoldState extends ControllerHold {
  key: string;
  configuration: string;
}

/** All keys that are held, by name. */
export async function readHolds(db: Db, { lock = false } = {}): Promise<HoldState[]> {
  const query = db.selectFrom('batch_holds').selectAll().orderBy('key');
  const rows = await (lock ? query.forUpdate() : query).execute();
  return rows.map((row) => ({ ...row, start: row.start.getTime(), since: row.since.getTime() }));
}

/** Holds the key, or changes how it is held. */
export async function writeHold(trx: Db, { start, since, ...state }: HoldState): Promise<void> {
  const record = { ...state, start: new Date(start), since: new Date(since) };
  await trx
    .insertInto('batch_holds')
    .values(record)
    .onConflict((conflict) => conflict.column('key').doUpdateSet(record))
    .execute();
}

/** The key is not held any more. */
export async function endHold(trx: Db, key: string): Promise<void> {
  await trx.deleteFrom('batch_holds').where('key', '=', key).execute();
}

/** This batch tries whether the fault is over. */
export async function markHoldProbe(trx: Db, key: string, batch: string): Promise<void> {
  await trx.updateTable('batch_holds').set({ probe: batch }).where('key', '=', key).execute();
}

/** Forgets holds of keys that no batch has any more, where the last try was before a time. */
export async function forgetHolds(db: Db, triedBefore: Date): Promise<void> {
  await sql`
    delete from batch_holds where start <= ${triedBefore}
      and not exists (select from batches where batches.key = batch_holds.key and state <> 'ended')`.execute(db);
}

/** How many keys hold batches back, and why the first of them does. */
export async function countHolds(db: Db): Promise<{ held_keys: number; held_reason: string | null }> {
  const { rows } = await sql<{ held_keys: number; held_reason: string | null }>`
    select count(*) as held_keys, (array_agg(reason order by since, key))[1] as held_reason from batch_holds
    where exists (select from batches where batches.key = batch_holds.key and state <> 'ended')`.execute(db);
  return rows[0] ?? { held_keys: 0, held_reason: null };
}

/**
 * By configuration, what stands for all that its sessions are made from and that is written here: its record, the sources that it names,
 * the options, and the secrets. One that does not exist has none.
 */
export async function readBases(db: Db, configurations: readonly string[]): Promise<Map<string, string>> {
  if (configurations.length === 0) return new Map();
  const { rows } = await sql<{ name: string; basis: string }>`
    select c.name, md5(concat_ws(' ', (c.record - 'last_updated')::text,
      (select string_agg(s.record::text, ' ' order by s.name) from sources s
        where s.name in (select named #>> '{}' from jsonb_path_query(c.record, '$.**.source') as named)),
      (select record::text from options), (select secrets_revision from batcher_state))) as basis
    from configurations c where c.name = any(${configurations})`.execute(db);
  return new Map(rows.map(({ name, basis }) => [name, basis]));
}

/** Notes that a secret was set: what waits for it is tried again at once. */
export async function noteSecretChange(db: Db): Promise<void> {
  await db.updateTable('batcher_state').set({ secrets_revision: sql`secrets_revision + 1` }).execute();
}
