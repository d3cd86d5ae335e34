/** Which components may be canaries of a rollout. */
import { type RawBuilder, sql } from 'kysely';
import type { CanaryCounts } from '../../domain/batches/rollout-counts.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import type { Canary } from '../../domain/configurations/schema.ts';
import { exhausted, judgedStandings } from '../components/component-status.ts';
import { hasTags } from '../components/tag-condition.ts';
import type { Db } from '../connection/database.ts';

/** Nothing is known to be wrong with a row of `components`. */
const SOUND = sql<boolean>`(components.error_count <= 0 and components.last_status is distinct from 'failed')`;

/** Whether the policy chooses a row of `components`. */
function chosen(canary: Canary): RawBuilder<boolean> {
  if (typeof canary === 'number') return sql<boolean>`true`;
  const { ids, tags, group } = canary;
  if (ids !== undefined) return sql<boolean>`components.id = any(${ids})`;
  if (tags !== undefined) return hasTags('components.tags', Object.entries(tags))[0] ?? sql<boolean>`true`;
  // As the inventory names groups, see `groupOfTag`.
  return sql<boolean>`exists (
    select from jsonb_each_text(components.tags) as tag where tag.value <> '' and not starts_with(tag.key, 'ansible_')
      and regexp_replace(tag.key || '_' || tag.value, '[^A-Za-z0-9_]', '_', 'g') = ${group ?? ''})`;
}

/** Whether a row of `components` may be sent as a canary: chosen and sound, or named by its id. */
export function mayBeCanary(canary: Canary): RawBuilder<boolean> {
  const isNamed = typeof canary !== 'number' && canary.ids !== undefined;
  return isNamed ? chosen(canary) : sql<boolean>`(${chosen(canary)} and ${SOUND})`;
}

/** How many enabled components of a configuration are chosen and configured, and how many may be sent as canaries. */
export async function countCanaries(
  db: Db,
  configuration: string,
  canary: Canary,
  options: StatusOptions,
): Promise<CanaryCounts> {
  const { rows } = await sql<CanaryCounts>`
    with recursive ${judgedStandings({ options, desiredConfig: configuration })}
    select count(*) filter (where verdict = 'configured') as configured,
      count(*) filter (where verdict = 'behind' and not ${exhausted(options)} and ${mayBeCanary(canary)}) as able
    from judged join components on components.standing = judged.standing
    where components.enabled and ${chosen(canary)}`.execute(db);
  return rows[0] ?? { configured: 0, able: 0 };
}

/** How many of these components may not be sent as canaries. */
export async function countOthers(db: Db, components: readonly string[], canary: Canary): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from components where id = any(${components}) and not ${mayBeCanary(canary)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Takes those that may not be canaries out of the unsent batches of a configuration; answers how many. */
export async function dropOthers(db: Db, configuration: string, canary: Canary): Promise<number> {
  const { rows } = await sql<{ dropped: number }>`
    with gone as (
      delete from batch_members using batches, components
      where batches.id = batch_members.batch_id and batches.state = 'open' and batches.configuration = ${configuration}
        and components.id = batch_members.component_id and not ${mayBeCanary(canary)} returning 1
    )
    select count(*) as dropped from gone`.execute(db);
  await sql`delete from batches where state = 'open' and configuration = ${configuration}
    and not exists (select from batch_members where batch_id = batches.id)`.execute(db);
  return rows[0]?.dropped ?? 0;
}

/** Ids of the canaries of a rollout, by code point: those that it has sent as such, and those that its policy chooses. */
export async function findCanaries(
  db: Db,
  rollout: { id: number; configuration: string },
  canary: Canary | undefined,
  limit: number,
): Promise<string[]> {
  const choice =
    canary === undefined || typeof canary === 'number'
      ? sql``
      : sql`union select id from components
          where desired_config = ${rollout.configuration} and enabled and ${chosen(canary)}`;
  const { rows } = await sql<{ id: string }>`
    select id from (
      select component_id as id from rollout_members where rollout_id = ${rollout.id} and canary ${choice}
    ) as found order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
