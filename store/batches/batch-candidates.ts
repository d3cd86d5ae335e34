/** What is behind and in no batch, and what is in a batch that is not its own any more; by the statuses of `component-status.ts`. */
import { type RawBuilder, sql } from 'kysely';
import type { LayerState } from '../../domain/components/schema.ts';
import type { StatusOptions } from '../../domain/components/status.ts';
import type { Canary } from '../../domain/configurations/schema.ts';
import { exhausted, judgedStandings } from '../components/component-status.ts';
import type { Db } from '../connection/database.ts';
import { mayBeCanary } from './canaries.ts';

export interface CandidateRow {
  id: string;
  configuration: string;
  /** Comma list of the pending layers. */
  layers: string;
  /** Status of the last report, '' without one. */
  last: LayerState | '';
}

/** Whose components are looked for: of all configurations but some, or the canaries of a single one. */
export type CandidateScope = { except: readonly string[] } | { configuration: string; canary: Canary };

/**
 * The components that are enabled, pending, in no batch and in no session's hands, in the order of ids, `size` at a time. One
 * statement finds them all, so they are of one moment; the database holds them while `take` works on a page. It ends when `take`
 * answers that it wants no more.
 */
export async function eachCandidatePage(
  db: Db,
  options: StatusOptions,
  { size, scope }: { size: number; scope: CandidateScope },
  take: (page: CandidateRow[]) => Promise<boolean>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // All pages are wanted, not the first one soon.
    await sql`set local cursor_tuple_fraction = 1`.execute(trx);
    await sql`declare candidates no scroll cursor for ${candidates(options, scope)}`.execute(trx);
    for (;;) {
      const { rows } = await sql<CandidateRow>`fetch ${sql.raw(String(size))} from candidates`.execute(trx);
      if (rows.length === 0 || !(await take(rows)) || rows.length < size) return;
    }
  });
}

function candidates(options: StatusOptions, scope: CandidateScope): RawBuilder<unknown> {
  const [names, rows] =
    'except' in scope
      ? [sql`name <> all(${scope.except})`, sql`true`]
      : [sql`name = ${scope.configuration}`, mayBeCanary(scope.canary)];
  return sql`
    with recursive ${judgedStandings({ options, withLayers: true })}, behind as materialized (
      select standing, name, layers from judged where verdict = 'behind' and ${names}
    )
    select found.id, behind.name as configuration, behind.layers, coalesce(found.last_status, '') as last
    from behind cross join lateral (
      select components.id, components.last_status from components
      where components.standing = behind.standing and components.enabled and not ${exhausted(options)} and ${rows}
      offset 0
    ) as found
    where not exists (select from batch_members where component_id = found.id)
      and not exists (select from held_components where component_id = found.id)
    order by found.id`;
}

/**
 * Takes the members out of batches that are not sent yet which are no longer enabled and pending with the batch's key, and
 * the batches that nobody is left in. Answers how many members went.
 */
export async function dropStaleMembers(db: Db, options: StatusOptions): Promise<number> {
  const { rows } = await sql<{ dropped: number }>`
    with recursive ${judgedStandings({ options, withLayers: true })}, current as (
      select components.id, judged.name || ':' || judged.layers || ':' || coalesce(components.last_status, '') as key
      from components join judged on judged.standing = components.standing
      where judged.verdict = 'behind' and components.enabled and not ${exhausted(options)}
    ), gone as (
      delete from batch_members using batches
      where batches.id = batch_members.batch_id and batches.state = 'open' and not exists (
        select from current where current.id = batch_members.component_id and current.key = batches.key
      ) returning 1
    )
    select count(*) as dropped from gone`.execute(db);
  await sql`delete from batches where state = 'open' and not exists (select from batch_members where batch_id = batches.id)`.execute(
    db,
  );
  return rows[0]?.dropped ?? 0;
}
