/** Components that the hardware sync makes, and how its passes went. */
import { sql } from 'kysely';
import { HARDWARE_SYNC_ACTOR, type HardwareSyncRecord } from '../../domain/components/hardware-sync.ts';
import type { Db } from '../connection/database.ts';

/** Ids that one statement takes at most. */
const CHUNK = 5_000;

/**
 * Makes the components of these sorted ids that do not exist: nothing desired, nothing reached, enabled (cfs-flows 6.2). One that
 * exists, also one that somebody makes at this moment, is left as it is; when all exist nothing is written. Answers how many.
 */
export async function createAbsentComponents(db: Db, ids: readonly string[], now: Date): Promise<number> {
  let created = 0;
  for (let start = 0; start < ids.length; start += CHUNK) {
    const chunk = ids.slice(start, start + CHUNK);
    const { rows: absent } = await sql<{ id: string }>`
      select id from unnest(${chunk}::text[]) as given(id)
      where not exists (select from components where components.id = given.id)`.execute(db);
    if (absent.length === 0) continue;
    const missing = absent.map(({ id }) => id);
    const { numAffectedRows } = await sql`
      insert into components (id, enabled, updated_at, actor)
      select id, true, ${now}::timestamptz, ${HARDWARE_SYNC_ACTOR}::text
      from unnest(${missing}::text[]) as given(id) order by id collate "C"
      on conflict (id) do nothing`.execute(db);
    created += Number(numAffectedRows ?? 0n);
  }
  return created;
}

/** How the passes went; undefined where there was none. */
export async function readHardwareSync(db: Db): Promise<HardwareSyncRecord | undefined> {
  const row = await db.selectFrom('hardware_syncs').selectAll().executeTakeFirst();
  return (
    row && {
      lastPassAt: row.last_pass_at,
      lastSuccessAt: row.last_success_at,
      interval: row.interval_seconds,
      reason: row.reason,
      found: row.found,
      created: row.created,
    }
  );
}

export interface HardwarePass {
  at: Date;
  /** Seconds to the next one. */
  interval: number;
  outcome: { found: number; created: number } | { reason: string };
}

/** Notes how a pass went. */
export async function noteHardwarePass(db: Db, { at, interval, outcome }: HardwarePass): Promise<void> {
  const failed = 'reason' in outcome;
  const { found, created } = failed ? { found: 0, created: 0 } : outcome;
  await sql`
    insert into hardware_syncs (last_pass_at, last_success_at, interval_seconds, reason, found, created)
    values (${at}, ${failed ? null : at}, ${interval}, ${failed ? outcome.reason : null}, ${found}, ${created})
    on conflict (single) do update set last_pass_at = excluded.last_pass_at,
      last_success_at = coalesce(excluded.last_success_at, hardware_syncs.last_success_at),
      interval_seconds = excluded.interval_seconds, reason = excluded.reason,
      found = case when excluded.reason is null then excluded.found else hardware_syncs.found end,
      created = hardware_syncs.created + excluded.created`.execute(db);
}

/** Forgets them: there is no hardware sync any more. */
export async function forgetHardwareSync(db: Db): Promise<void> {
  await db.deleteFrom('hardware_syncs').execute();
}
