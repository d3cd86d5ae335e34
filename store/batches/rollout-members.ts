/** What rollouts count: their components, by status, by what became of them, and in sessions. */
import { sql } from 'kysely';
import type { RolloutCounts } from '../../domain/batches/rollout-counts.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import { exhausted, judgedStandings } from '../components/component-status.ts';
import type { Db } from '../connection/database.ts';

export interface StatusCounts {
  /** Enabled components that desire the configuration, and those of them with the status. */
  components: number;
  pending: number;
  failed: number;
}

export type MemberTally = Pick<RolloutCounts, 'trying' | 'done' | 'failed'>;

/** Counts of the enabled components of these configurations; none of a configuration that no component desires. */
export async function countStatuses(
  db: Db,
  configurations: readonly string[],
  options: StatusOptions,
): Promise<Map<string, StatusCounts>> {
  const { rows } = await sql<StatusCounts & { name: string }>`
    with recursive ${judgedStandings({ options, withLayers: true })}, wanted_names as (
      select standing, name, verdict from judged where name = any(${configurations})
    )
    select wanted_names.name, count(*) as components,
      count(*) filter (where verdict = 'behind' and not ${exhausted(options)}) as pending,
      count(*) filter (where verdict = 'behind' and ${exhausted(options)}) as failed
    from wanted_names join components on components.standing = wanted_names.standing
    where components.enabled group by wanted_names.name`.execute(db);
  return new Map(rows.map(({ name, ...counts }) => [name, counts]));
}

/** What became of the components of these rollouts; one without any is left out. */
export async function tallyMembers(db: Db, rollouts: readonly number[]): Promise<Map<number, MemberTally>> {
  const { rows } = await sql<MemberTally & { rollout_id: number }>`
    select rollout_id, count(*) filter (where outcome is null) as trying,
      count(*) filter (where outcome = 'done') as done,
      count(*) filter (where outcome = 'failed' and not forgiven) as failed
    from rollout_members where rollout_id = any(${rollouts}) group by rollout_id`.execute(db);
  return new Map(rows.map(({ rollout_id, ...tally }) => [rollout_id, tally]));
}

/** Components in sent batches of these configurations. */
export async function countInSessions(db: Db, configurations: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ configuration: string; count: number }>`
    select configuration, count(*) as count from batches join batch_members on batch_members.batch_id = batches.id
    where state = 'sent' and configuration = any(${configurations}) group by configuration`.execute(db);
  return new Map(rows.map(({ configuration, count }) => [configuration, count]));
}

/** Notes that a rollout sends these components in a batch. */
export async function addMembers(
  trx: Db,
  members: { rollout: number; batch: string; components: readonly string[]; canary: boolean },
): Promise<void> {
  const { rollout, batch, components, canary } = members;
  await sql`
    insert into rollout_members (rollout_id, component_id, batch_id, canary)
    select ${rollout}, id, ${batch}::uuid, ${canary}::boolean from unnest(${components}::text[]) as listed(id)
    on conflict (rollout_id, component_id) do update set batch_id = excluded.batch_id, outcome = null, forgiven = false,
      canary = rollout_members.canary or excluded.canary`.execute(trx);
}

/** Components that a rollout sent in this batch and whose outcome is open. */
export async function openMembers(db: Db, batch: string): Promise<string[]> {
  const query = db.selectFrom('rollout_members').select('component_id').where('batch_id', '=', batch);
  return (await query.where('outcome', 'is', null).execute()).map((row) => row.component_id);
}

/** Notes what became of the components of a batch; those that are in neither list are as if they had never been sent. */
export async function writeOutcomes(
  trx: Db,
  batch: string,
  outcomes: { done: readonly string[]; failed: readonly string[] },
): Promise<void> {
  await sql`
    update rollout_members set outcome = case when component_id = any(${outcomes.done}) then 'done' else 'failed' end
    where batch_id = ${batch}::uuid and outcome is null
      and component_id = any(${[...outcomes.done, ...outcomes.failed]})`.execute(trx);
  await trx.deleteFrom('rollout_members').where('batch_id', '=', batch).where('outcome', 'is', null).execute();
}

/** Releases the members of unsent batches beyond the first `keep` of each, by code point, and batches that become empty. */
export async function trimMembers(db: Db, trims: readonly { batch: string; keep: number }[]): Promise<void> {
  if (trims.length === 0) return;
  await sql`
    delete from batch_members using (
      select member.component_id, t.keep, row_number() over (partition by member.batch_id order by member.component_id) as place
      from jsonb_to_recordset(${JSON.stringify(trims)}::jsonb) as t(batch uuid, keep integer)
      join batches on batches.id = t.batch and batches.state = 'open'
      join batch_members member on member.batch_id = t.batch
    ) as numbered
    where numbered.component_id = batch_members.component_id and numbered.place > numbered.keep`.execute(db);
  await sql`
    delete from batches where state = 'open' and id = any(${trims.map(({ batch }) => batch)}::uuid[])
      and not exists (select from batch_members where batch_id = batches.id)`.execute(db);
}
