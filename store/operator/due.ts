/** Admission: which resources are due, which places are free, what has begun. */
import { sql } from 'kysely';
import type { Admitted, Candidate, Places } from '../../domain/operator/admission.ts';
import type { Db } from '../connection/database.ts';
import { causesWith } from './causes.ts';
import { isPaused, pausedUntil } from './reads.ts';

/** Resources of each kind that are looked at in one pass, at most. */
const MOST = 200;

export const kindKey = (group: string, version: string, kind: string): string => `${group}/${version}/${kind}`;

/** Holds the operator, so that admissions of it go one after the other. Returns whether there is such an operator, and it is not stopped. */
export async function holdOperator(db: Db, operator: string): Promise<boolean> {
  const row = await db
    .selectFrom('operators')
    .select('name')
    .where('name', '=', operator)
    .where('stopped_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the places that are free: for each kind, and in each process that was seen since a time. */
export async function freePlaces(db: Db, operator: string, seenAfter: Date): Promise<Places> {
  const kinds = await sql<{ key: string; free: number }>`
    select w.api_group || '/' || w.version || '/' || w.kind as key, (w.slots - count(r.id))::int as free
    from operator_watches w left join operator_resources r on r.operator = w.operator and r.reconcile_id is not null
      and r.api_group = w.api_group and r.version = w.version and r.kind = w.kind
    where w.operator = ${operator} group by w.operator, w.api_group, w.version, w.kind, w.slots
  `.execute(db);
  const machines = await sql<{ machine: string; free: number }>`
    select p.machine, (p.slots - count(c.id))::int as free
    from operator_processes p left join operator_reconciles c on c.operator = p.operator and c.machine = p.machine
      and c.ended_at is null
    where p.operator = ${operator} and p.seen_at > ${seenAfter} and p.left_at is null group by p.machine, p.slots
  `.execute(db);
  return {
    kinds: new Map(kinds.rows.map(({ key, free }) => [key, free])),
    machines: new Map(machines.rows.map(({ machine, free }) => [machine, free])),
  };
}

/** Returns the resources that are due and of kinds with free places, the most urgent of each kind. */
export async function dueResources(db: Db, operator: string, places: Places, now: Date): Promise<Candidate[]> {
  const kinds = [...places.kinds].filter(([, free]) => free > 0).map(([key]) => key);
  if (kinds.length === 0) return [];
  const { rows } = await sql<Candidate>`
    select id, kind, urgency, "dueAt" from (
      select id, api_group || '/' || version || '/' || kind as kind, due_class as urgency, due_at as "dueAt",
        row_number() over (partition by api_group, version, kind order by due_class, due_at) as place
      from operator_resources r
      where operator = ${operator} and reconcile_id is null and due_at <= ${now} and gone_at is null
        and (drain is not null or not ${isPaused(now)})
    ) due where place <= ${MOST} and kind = any(${kinds})
  `.execute(db);
  return rows;
}

/** Opens a reconcile for each resource that is admitted. Returns the ids of the reconciles. */
export async function openReconciles(db: Db, admitted: readonly Admitted[], now: Date): Promise<string[]> {
  if (admitted.length === 0) return [];
  const rows = JSON.stringify(admitted);
  // What came by itself is noted now; all else was noted when it happened.
  const cause = sql`coalesce(r.cause, '{"type":"timer"}')`;
  const cameByItself = sql`(${cause}->>'type' = 'timer' or ${cause} ? 'attempt')`;
  const noted = sql`jsonb_build_array(${cause} || jsonb_build_object('at', ${now.toISOString()}::text))`;
  const opened = await sql<{ id: string }>`
    with admitted as (
      select a.id, a.machine, gen_random_uuid() as reconcile from jsonb_to_recordset(${rows}::jsonb) as a(id uuid, machine text)
    ), opened as (
      insert into operator_reconciles (id, resource_id, operator, machine, cause, started_at)
      select a.reconcile, r.id, r.operator, a.machine, ${cause}, ${now}
      from admitted a join operator_resources r on r.id = a.id
      returning id
    ), marked as (
      update operator_resources r set reconcile_id = a.reconcile, due_at = null, due_class = null, due_reason = null, cause = null,
        causes = case when ${cameByItself} then ${causesWith(noted)} else r.causes end,
        phase = 'running', reason = null, updated_at = ${now}
      from admitted a where r.id = a.id
    )
    select id from opened
  `.execute(db);
  return opened.rows.map(({ id }) => id);
}

/** A reconcile whose workflow is to be open. */
export interface OpenReconcile {
  id: string;
  machine: string;
  /** Whether Temporal had its workflow before. */
  isTold: boolean;
  uid: string;
  version: string;
  kind: string;
  namespace: string;
  name: string;
}

/** Returns the reconciles of an operator that are not over, and of which Temporal has not been told since a time. */
export async function listUntold(db: Db, operator: string, since: Date): Promise<OpenReconcile[]> {
  return db
    .selectFrom('operator_reconciles as c')
    .innerJoin('operator_resources as r', 'r.id', 'c.resource_id')
    .select(['c.id', 'c.machine', 'r.uid', 'r.version', 'r.kind', 'r.namespace', 'r.name'])
    .select(sql<boolean>`c.told_at is not null`.as('isTold'))
    .where('c.operator', '=', operator)
    .where('c.ended_at', 'is', null)
    .where((is) => is.or([is('c.told_at', 'is', null), is('c.told_at', '<', since)]))
    .orderBy('c.started_at')
    .execute();
}

/** Notes that Temporal has the workflow of a reconcile. */
export async function noteTold(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('operator_reconciles').set({ told_at: now }).where('id', '=', id).execute();
}

/** Temporal has lost its store: it is to be told of all reconciles that are open. */
export async function forgetTold(db: Db, operator: string): Promise<void> {
  await db
    .updateTable('operator_reconciles')
    .set({ told_at: null })
    .where('operator', '=', operator)
    .where('ended_at', 'is', null)
    .execute();
}

/** Returns when the next resource is due that nothing but its time keeps, or the end of its pause; null: none. */
export async function nextDue(db: Db, operator: string, after: Date): Promise<Date | null> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(due) as due from (
      select case when r.drain is null and ${isPaused(after)} then greatest(due_at, ${pausedUntil(after)}) else due_at end as due from operator_resources r
      where operator = ${operator} and reconcile_id is null and gone_at is null and due_at is not null
        and not (r.drain is null and ${isPaused(after)} and ${pausedUntil(after)} is null)
    ) waiting where due > ${after}
  `.execute(db);
  return rows[0]?.due ?? null;
}

/** Returns how many reconciles a machine runs, and how many resources are due and wait, by the text of their kind. */
export async function countWorkOf(
  db: Db,
  { operator, machine }: { operator: string; machine: string },
  now: Date,
): Promise<{ active: Map<string, number>; due: Map<string, number> }> {
  const kind = sql<string>`r.api_group || '/' || r.version || ', Kind=' || r.kind`;
  const active = await sql<{ kind: string; count: number }>`
    select ${kind} as kind, count(*)::int as count from operator_reconciles c join operator_resources r on r.id = c.resource_id
    where c.operator = ${operator} and c.machine = ${machine} and c.ended_at is null group by 1
  `.execute(db);
  const due = await sql<{ kind: string; count: number }>`
    select ${kind} as kind, count(*)::int as count from operator_resources r
    where r.operator = ${operator} and r.reconcile_id is null and r.gone_at is null and r.due_at <= ${now}
      and (r.drain is not null or not ${isPaused(now)}) group by 1
  `.execute(db);
  const counts = ({ rows }: typeof active) => new Map(rows.map(({ kind: of, count }) => [of, count]));
  return { active: counts(active), due: counts(due) };
}
