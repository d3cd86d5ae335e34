/** Batches as they are shown, page by page. */
import { type RawBuilder, sql } from 'kysely';
import type { AbsentConfiguration } from '../../domain/batches/batch-schema.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import type { SessionStatus } from '../../domain/sessions/schema.ts';
import { exhausted, judgedStandings } from '../components/component-status.ts';
import type { Db } from '../connection/database.ts';
import type { BatchRow } from './batches.ts';

export interface ShownBatch extends BatchRow {
  /** Its components; of an ended batch those of its session's limit, null when that is forgotten. */
  components: number | null;
  leased: number;
  /** Null when its session is gone, or there is none yet. */
  session_status: SessionStatus | null;
}

export interface BatchPage {
  states: readonly BatchRow['state'][];
  key: string | undefined;
  configuration: string | undefined;
  /** Time and id of the last batch that the reader has. */
  after: { at: Date; id: string } | null;
  limit: number;
}

/** At most `limit` batches: ended ones newest end first, others by the time at which they were opened. */
export async function pageBatches(db: Db, page: BatchPage): Promise<ShownBatch[]> {
  const { states, key, configuration, after, limit } = page;
  const ended = states.includes('ended');
  const at = sql.ref(ended ? 'b.ended_at' : 'b.opened_at');
  const conditions = [
    sql`b.state = any(${states})`,
    ...(key ? [sql`b.key = ${key}`] : []),
    ...(configuration ? [sql`b.configuration = ${configuration}`] : []),
    ...(after === null ? [] : [sql`(${at}, b.id) ${ended ? sql`<` : sql`>`} (${after.at}, ${after.id}::uuid)`]),
  ];
  const order = ended ? sql`${at} desc, b.id desc` : sql`${at}, b.id`;
  return shown(db, sql`where ${sql.join(conditions, sql` and `)} order by ${order} limit ${limit}`);
}

/** The batch of that id, or null. */
export async function findBatch(db: Db, id: string): Promise<ShownBatch | null> {
  return (await shown(db, sql`where b.id = ${id}`))[0] ?? null;
}

/** The batch that a component is in, or null. */
export async function findBatchOf(db: Db, component: string): Promise<ShownBatch | null> {
  const member = sql`select batch_id from batch_members where component_id = ${component}`;
  return (await shown(db, sql`where b.id = (${member}) and b.state <> 'ended'`))[0] ?? null;
}

/** The components of the limit with which a session was made, by code point; null when it is forgotten. */
export async function limitOfSession(db: Db, session: string): Promise<string[] | null> {
  const row = await db.selectFrom('sessions').select('ansible_limit').where('id', '=', session).executeTakeFirst();
  return row === undefined ? null : (row.ansible_limit ?? '').split(',').filter((id) => id !== '');
}

/** How many components are enabled and pending, and in no batch because a session has them. */
export async function countLeasedCandidates(db: Db, options: StatusOptions): Promise<number> {
  const { rows: held } = await sql`select from held_components limit 1`.execute(db);
  if (held.length === 0) return 0;
  const { rows } = await sql<{ count: number }>`
    with recursive ${judgedStandings({ options })}
    select count(*) as count from (select distinct component_id from held_components) as held
    join components on components.id = held.component_id
    join judged on judged.standing = components.standing
    where judged.verdict = 'behind' and components.enabled and not ${exhausted(options)}
      and not exists (select from batch_members where component_id = components.id)`.execute(db);
  return rows[0]?.count ?? 0;
}

/** How many components are enabled and behind, and have used up their tries. */
export async function countUsedUp(db: Db, options: StatusOptions): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with recursive ${judgedStandings({ options })}
    select count(*) as count from judged join components on components.standing = judged.standing
    where judged.verdict = 'behind' and components.enabled and components.error_count > 0 and ${exhausted(options)}`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

/** Configurations that components desire and that do not exist, at most ten, with how many components want each and the first of them. */
export async function readAbsentConfigurations(db: Db, options: StatusOptions): Promise<AbsentConfiguration[]> {
  const { rows } = await sql<AbsentConfiguration>`
    with recursive ${judgedStandings({ options })}, absent as materialized (
      select members.name, array_agg(members.standing) as standings from members
      join wanted on wanted.name = members.name where not wanted.is_there and members.name <> ''
      group by members.name order by members.name limit 10
    )
    select absent.name as configuration,
      (select count(*) from components where standing = any(absent.standings)) as components,
      array(select id from components where standing = any(absent.standings) order by id limit 10) as ids
    from absent order by absent.name`.execute(db);
  return rows;
}

async function shown(db: Db, rest: RawBuilder<unknown>): Promise<ShownBatch[]> {
  const { rows } = await sql<ShownBatch>`
    select b.*, s.status as session_status, coalesce(m.leased, 0) as leased,
      case when b.state <> 'ended' then coalesce(m.members, 0)
        else cardinality(array_remove(string_to_array(l.ansible_limit, ','), '')) end as components
    from batches b
    left join sessions l on l.id = b.session_id
    left join sessions s on s.id = b.session_id and s.deleted_at is null
    left join lateral (
      select count(*) as members, count(held.component_id) as leased
      from batch_members left join (
        select distinct component_id from held_components where session_id is distinct from b.session_id
      ) as held using (component_id) where batch_id = b.id
    ) m on b.state <> 'ended'
    ${rest}`.execute(db);
  return rows;
}

/** How many batches are not sent yet, and how many are and have not ended. */
export async function countBatches(db: Db): Promise<{ open: number; sent: number }> {
  const { rows } = await sql<{ open: number; sent: number }>`
    select count(*) filter (where state = 'open') as open, count(*) filter (where state = 'sent') as sent
    from batches where state <> 'ended'`.execute(db);
  return rows[0] ?? { open: 0, sent: 0 };
}

/** Whether a batch that has not ended has the key, or anything is remembered of it. */
export async function isKnownKey(db: Db, key: string): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select exists(select from batches where key = ${key} and state <> 'ended')
      or exists(select from batch_keys where key = ${key})
      or exists(select from batch_holds where key = ${key}) as known`.execute(db);
  return rows[0]?.known ?? false;
}
