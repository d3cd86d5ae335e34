/** What happens in an AppContext, numbered: each change of a status, of a state and of the connectivity of its clusters. */
import { sql, type UpdateQueryBuilder } from 'kysely';
import type { ContextState } from '../../domain/deployments/context-state.ts';
import type { ContextEvent } from '../../domain/deployments/event-schema.ts';
import type { ClusterRef } from '../../domain/deployments/naming.ts';
import type { Db } from '../connection/database.ts';
import type { Database } from '../tables.ts';

/** Channel on which readers of streams listen; the payload is the id of what is read. */
const CHANNEL = 'muster_stream';

/** Members of a row of `context_resources` by which its change is told. */
export const TOLD = [
  ...(['app', 'provider', 'cluster', 'key', 'number'] as const),
  ...(['status', 'reason', 'message', 'changed_at'] as const),
] as const;

/** Rows of an AppContext, as `updateNoting` takes them. */
export function resourcesBefore(db: Db, context: string) {
  return db
    .selectFrom('context_resources')
    .select(['app', 'provider', 'cluster', 'key', 'status', 'reason'])
    .where('context', '=', context);
}

/**
 * Updates resources, and notes in the same statement which statuses and reasons have changed, in the order of `changed_at`. The counter's row is locked
 * last, so that numbers become visible in order and writers wait for each other for one commit at most. Returns the keys of the rows that were written.
 * @param before the same rows, as they are before
 */
export async function updateNoting(
  db: Db,
  context: string,
  before: ReturnType<typeof resourcesBefore>,
  // biome-ignore lint/suspicious/noExplicitAny: the types of tables of an update do not matter here
  update: UpdateQueryBuilder<Database, any, any, { [Name in (typeof TOLD)[number]]: unknown }>,
): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`with before as materialized ${before}, written as (${update}),
    changed as materialized (
      select w.*, b.status as was, row_number() over (
        order by w.changed_at, w.app, w.provider, w.cluster, w.number) as place
      from written w join before b
        on b.app = w.app and b.provider = w.provider and b.cluster = w.cluster and b.key = w.key
      where w.status <> b.status or w.reason is distinct from b.reason
    ),
    counter as (
      update context_streams set next_event = next_event + (select count(*) from changed)
      where context = ${context} and exists (select from changed)
      returning next_event - (select count(*) from changed) as first
    ),
    noted as (
      insert into context_events (context, number, time, type, data)
      select ${context}, r.first + c.place - 1, c.changed_at, 'resource', jsonb_build_object(
        'app', c.app, 'cluster', c.provider || '+' || c.cluster, 'resource', c.key,
        'from', c.was, 'status', c.status, 'reason', c.reason, 'message', c.message)
      from changed c, counter r
    ),
    announced as materialized (select pg_notify(${CHANNEL}, ${context})::text as sent from counter)
    select w.key, (select count(sent) from announced) as told from written w`.execute(db);
  return rows.map(({ key }) => key);
}

/** Notes that an AppContext that is held gets another state, before it is written. */
export async function noteState(trx: Db, context: string, state: ContextState, now: Date): Promise<void> {
  await append(
    trx,
    context,
    now,
    'status',
    sql`select jsonb_build_object('from', c.state, 'status', ${state}::text)
    from deployment_contexts c where c.id = ${context} and c.state <> ${state}`,
  );
}

/** Notes the state of a deployment, of the AppContext that its history names. */
export async function noteAction(trx: Db, context: string, state: string, now: Date): Promise<void> {
  await append(trx, context, now, 'state', sql`select jsonb_build_object('state', ${state}::text)`);
}

/** Notes an event of an AppContext where a query finds one. */
async function append(trx: Db, context: string, now: Date, type: string, found: ReturnType<typeof sql>): Promise<void> {
  await sql`with found as materialized (${found} ),
    counter as (
      update context_streams set next_event = next_event + 1
      where context = ${context} and exists (select from found) returning next_event - 1 as number
    ),
    noted as (
      insert into context_events (context, number, time, type, data)
      select ${context}, counter.number, ${now}::timestamptz, ${type}::text, found.* from counter, found
    )
    select pg_notify(${CHANNEL}, ${context}) from counter`.execute(trx);
}

/** Notes in each AppContext that has not ended and goes to a cluster whether the cluster answers. */
export async function noteConnectivity(
  db: Db,
  { provider, cluster }: ClusterRef,
  isAnswering: boolean,
  now: Date,
): Promise<void> {
  const connectivity = isAnswering ? 'Reachable' : 'Retrying';
  await sql`with known as materialized (
      select s.context from context_streams s join deployment_contexts c on c.id = s.context
      where c.state not in ('Terminated', 'TerminateFailed') and c.cloud <> '' and exists (
        select from context_groups g where g.context = c.id and g.provider = ${provider} and g.cluster = ${cluster})
      order by s.context for update of s
    ),
    counter as (
      update context_streams set next_event = next_event + 1 from known
      where context_streams.context = known.context returning context_streams.context, next_event - 1 as number
    ),
    noted as (
      insert into context_events (context, number, time, type, data)
      select context, number, ${now}::timestamptz, 'connectivity',
        jsonb_build_object('cluster', ${`${provider}+${cluster}`}::text, 'connectivity', ${connectivity}::text)
      from counter
    )
    select pg_notify(${CHANNEL}, context) from counter`.execute(db);
}

/** Returns how far the events of an AppContext can be read; null when it is gone. */
export async function readContextStream(
  db: Db,
  context: string,
): Promise<{ state: ContextState; lastEvent: number } | null> {
  const row = await db
    .selectFrom('deployment_contexts as c')
    .leftJoin('context_streams as s', 's.context', 'c.id')
    .select(['c.state', 's.next_event'])
    .where('c.id', '=', context)
    .executeTakeFirst();
  return row === undefined ? null : { state: row.state, lastEvent: Number(row.next_event ?? 1) - 1 };
}

/** Returns events of an AppContext behind a number, the oldest first. */
export async function listEventsAfter(db: Db, context: string, after: number, limit: number): Promise<ContextEvent[]> {
  return (await events(db, context).where('number', '>', after).orderBy('number').limit(limit).execute()).map(shown);
}

/** Returns the last events of an AppContext, the oldest first. */
export async function listLastEvents(db: Db, context: string, limit: number): Promise<ContextEvent[]> {
  const rows = await events(db, context).orderBy('number', 'desc').limit(limit).execute();
  return rows.reverse().map(shown);
}

/** Returns AppContexts that have more events behind them than are kept, each with the first number that stays. */
export async function listFullStreams(
  db: Db,
  kept: number,
  limit: number,
): Promise<{ context: string; first: number }[]> {
  const rows = await db
    .selectFrom('context_streams as s')
    .select(['s.context', 's.next_event'])
    .where('s.next_event', '>', kept + 1)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('context_events as e')
          .select('e.number')
          .whereRef('e.context', '=', 's.context')
          .where('e.number', '<', sql<number>`s.next_event - ${kept}`),
      ),
    )
    .orderBy('s.context')
    .limit(limit)
    .execute();
  return rows.map(({ context, next_event }) => ({ context, first: Number(next_event) - kept }));
}

/** Forgets events of an AppContext before a number and a time, at most so many, the oldest first. Returns how many. */
export async function forgetEvents(
  db: Db,
  context: string,
  { first, before, limit }: { first: number; before: Date; limit: number },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('context_events')
    .where('context', '=', context)
    .where('number', 'in', (eb) =>
      eb
        .selectFrom('context_events')
        .select('number')
        .where('context', '=', context)
        .where('number', '<', first)
        .where('time', '<', before)
        .orderBy('number')
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

function events(db: Db, context: string) {
  return db.selectFrom('context_events').select(['number', 'time', 'type', 'data']).where('context', '=', context);
}

function shown({ number, time, type, data }: { number: number; time: Date; type: string; data: object }): ContextEvent {
  return { ...data, seq: Number(number), time: time.toISOString(), type } as ContextEvent;
}
