/** Batches and their members, while they are not sent, sent, and for some days after their end. */

import { type Selectable, sql } from 'kysely';
import type { JudgedEnd } from '../../domain/batches/controller-hold.ts';
import type { UnsentBatch } from '../../domain/batches/join-batches.ts';
import type { SessionVerdict } from '../../domain/batches/judge-session.ts';
import type { DueBatch } from '../../domain/batches/plan-sends.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Db } from '../connection/database.ts';
import type { BatchesTable } from './tables.ts';

export type BatchRow = Selectable<BatchesTable>;

/** A batch that is not sent, with why its last try was refused. */
export interface OpenBatch extends DueBatch {
  tries: number;
  refusal: string | null;
}

/** The batches that are not sent, with the number of their members and of those that some session has. */
export async function openBatches(db: Db): Promise<OpenBatch[]> {
  const { rows } = await sql<Omit<OpenBatch, 'openedAt'> & { opened_at: Date }>`
    select b.id, b.key, b.configuration, b.layers, b.opened_at, b.tries, b.refusal,
      coalesce(m.members, 0) as members, coalesce(m.leased, 0) as leased
    from batches b left join (
      select batch_id, count(*) as members, count(held.component_id) as leased
      from batch_members left join (select distinct component_id from held_components) as held using (component_id)
      group by batch_id
    ) as m on m.batch_id = b.id
    where b.state = 'open' order by b.opened_at, b.id`.execute(db);
  return rows.map(({ opened_at, ...row }) => ({ ...row, openedAt: opened_at.getTime() }));
}

/** Writes what a page of candidates made: new batches and their members. One that is in a batch meanwhile stays there. */
export async function joinMembers(
  trx: Db,
  opened: readonly UnsentBatch[],
  joined: readonly { component: string; batch: string }[],
  now: Date,
): Promise<void> {
  if (opened.length > 0) {
    await sql`
      insert into batches (id, key, configuration, layers, opened_at)
      select id, key, configuration, layers, ${now}::timestamptz from jsonb_to_recordset(${JSON.stringify(opened)}::jsonb)
        as r(id uuid, key text, configuration text, layers text)`.execute(trx);
  }
  const components = joined.map(({ component }) => component);
  const batches = joined.map(({ batch }) => batch);
  await sql`
    insert into batch_members (component_id, batch_id, joined_at)
    select component_id, batch_id, ${now}::timestamptz
    from unnest(${components}::text[], ${batches}::uuid[]) as r(component_id, batch_id)
    where exists (select from batches where id = batch_id and state = 'open')
    on conflict do nothing`.execute(trx);
}

/** The batch, locked until the transaction ends, if it is in that state; else null. */
export async function lockBatch(trx: Db, id: string, state: BatchRow['state']): Promise<BatchRow | null> {
  const query = trx.selectFrom('batches').selectAll().where('id', '=', id).where('state', '=', state).forUpdate();
  return (await query.executeTakeFirst()) ?? null;
}

/** Ids of the members, by code point. */
export async function membersOf(db: Db, batch: string): Promise<string[]> {
  const query = db.selectFrom('batch_members').select('component_id').where('batch_id', '=', batch);
  return (await query.orderBy('component_id').execute()).map((row) => row.component_id);
}

/** Takes members out of a batch. */
export async function dropMembers(trx: Db, batch: string, components: readonly string[]): Promise<void> {
  if (components.length === 0) return;
  await sql`delete from batch_members where batch_id = ${batch} and component_id = any(${components})`.execute(trx);
}

/** Removes a batch that was never sent. */
export async function deleteBatch(trx: Db, batch: string): Promise<void> {
  await trx.deleteFrom('batches').where('id', '=', batch).execute();
}

/** The batch has become this session. */
export async function markSent(
  trx: Db,
  batch: string,
  sent: { sessionId: string; sessionName: string; desired: string; basis: string; now: Date },
): Promise<void> {
  await trx
    .updateTable('batches')
    .set({
      state: 'sent',
      session_id: sent.sessionId,
      session_name: sent.sessionName,
      desired: sent.desired,
      basis: sent.basis,
      sent_at: sent.now,
      refusal: null,
      tries: sql`tries + 1`,
    })
    .where('id', '=', batch)
    .execute();
}

/** No session could be made; the next try has another name. */
export async function noteRefusal(db: Db, batch: string, refusal: string): Promise<void> {
  await db
    .updateTable('batches')
    .set({ refusal: refusal.slice(0, 500), tries: sql`tries + 1` })
    .where('id', '=', batch)
    .where('state', '=', 'open')
    .execute();
}

/** The batch has ended; its members are free. The back-off is told later, of all ends of a pass together. */
export async function markEnded(
  trx: Db,
  batch: string,
  end: { verdict: SessionVerdict; fault: ErrorCode | null; reason: string; desired: string; now: Date },
): Promise<void> {
  await trx
    .updateTable('batches')
    .set({
      state: 'ended',
      result: end.verdict === 'succeeded' ? 'success' : 'failure',
      verdict: end.verdict,
      fault: end.fault,
      reason: end.reason,
      desired: end.desired,
      ended_at: end.now,
    })
    .where('id', '=', batch)
    .execute();
  await trx.deleteFrom('batch_members').where('batch_id', '=', batch).execute();
}

/** An end that the back-off has not seen. */
export interface UncountedEnd extends JudgedEnd {
  key: string;
  configuration: string;
  desired: string;
}

/** The ends that the back-off has not seen, in their order, marked as seen. */
export async function takeUncountedEnds(trx: Db): Promise<UncountedEnd[]> {
  const rows = await trx
    .updateTable('batches')
    .set({ counted: true })
    .where('state', '=', 'ended')
    .where('counted', '=', false)
    .returningAll()
    .execute();
  const at = (row: (typeof rows)[number]) => row.ended_at?.getTime() ?? 0;
  return rows
    .sort((a, b) => at(a) - at(b) || (a.id < b.id ? -1 : 1))
    .map(({ id, key, configuration, desired, result, verdict, ...row }) => ({
      batch: id,
      key,
      configuration,
      desired: desired ?? '',
      success: result === 'success',
      verdict,
      fault: faultOf(row),
    }));
}

function faultOf({
  fault,
  reason,
  session_name,
  basis,
}: Pick<BatchRow, 'fault' | 'reason' | 'session_name' | 'basis'>) {
  if (fault === null) return null;
  return { code: fault, reason: reason ?? '', session: session_name ?? '', basis: basis ?? '' };
}

/** Forgets batches that ended before a time. */
export async function forgetBatches(db: Db, endedBefore: Date): Promise<void> {
  await db.deleteFrom('batches').where('state', '=', 'ended').where('ended_at', '<', endedBefore).execute();
}
