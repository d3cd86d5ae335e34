/** AppContexts that want a phase, and whether new phases may begin. */
import { sql } from 'kysely';
import type { Db } from '../connection/database.ts';

/** Whether no new phase may begin. A pause waits for the transactions that have asked. */
export async function isPaused(trx: Db): Promise<boolean> {
  const row = await trx.selectFrom('deployment_pause').select('paused_at').forShare().executeTakeFirst();
  return (row?.paused_at ?? null) !== null;
}

/** Keeps new phases from beginning, since a moment, unless they are kept from it already. Returns whether it was this moment. */
export async function pauseUnlessPaused(db: Db, at: Date): Promise<boolean> {
  const changed = await db
    .updateTable('deployment_pause')
    .set({ paused_at: at })
    .where('paused_at', 'is', null)
    .returning('single')
    .executeTakeFirst();
  return changed !== undefined;
}

/** Lets new phases begin where they are kept from it since one of these moments. Returns whether they were. */
export async function resumeIfPausedAt(db: Db, moments: readonly Date[]): Promise<boolean> {
  if (moments.length === 0) return false;
  const changed = await db
    .updateTable('deployment_pause')
    .set({ paused_at: null })
    .where('paused_at', 'in', [...moments])
    .returning('single')
    .executeTakeFirst();
  return changed !== undefined;
}

/** Returns how many AppContexts want a phase that has not begun. */
export async function countUnbegun(db: Db): Promise<number> {
  const row = await unbegun(db)
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** Returns AppContexts that want a phase that has not begun. The AppContext that has waited longest is first. */
export async function listUnbegun(db: Db, limit: number): Promise<string[]> {
  const rows = await unbegun(db).select('id').orderBy('wanted_at').limit(limit).execute();
  return rows.map(({ id }) => id);
}

function unbegun(db: Db) {
  return db.selectFrom('deployment_contexts').where('wanted', 'is not', null).where('phase_began_at', 'is', null);
}

export interface WantedSince {
  before: Date;
  /** Behind this id. */
  after: string;
  limit: number;
}

/**
 * Returns AppContexts that want a phase since before a time, by id; while new phases may not begin, only those whose phase has begun or is to be
 * given up.
 */
export async function listWanted(db: Db, { before, after, limit }: WantedSince): Promise<string[]> {
  const paused = sql<boolean>`exists (select from deployment_pause where paused_at is not null)`;
  const rows = await db
    .selectFrom('deployment_contexts')
    .select('id')
    .where('wanted', 'is not', null)
    .where('wanted_at', '<', before)
    .where('id', '>', after)
    .where(({ eb, or, not }) => or([eb('phase_began_at', 'is not', null), eb('is_stopped', '=', true), not(paused)]))
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
