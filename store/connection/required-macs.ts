/** From when on what goes through the engine must have a MAC, and who is there that makes none. */
import { sql } from 'kysely';
import type { Db } from './database.ts';
import { UNSIGNING } from './process-names.ts';

export async function readRequiredSince(db: Db): Promise<Date | null> {
  const row = await db.selectFrom('installation').select('mac_required_since').executeTakeFirstOrThrow();
  return row.mac_required_since;
}

/** Notes by what the key is known, once; answers the print that stands. */
export async function keepKeyPrint(db: Db, print: string): Promise<string> {
  const { rows } = await sql<{ print: string }>`
    update installation set mac_key_print = coalesce(mac_key_print, ${print}) returning mac_key_print as print
  `.execute(db);
  return rows[0]?.print ?? print;
}

/** Whether a process that does not sign is connected. */
export async function hasUnsigning(db: Db): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`
    select exists(select from pg_stat_activity
      where datname = current_database() and application_name = any(${UNSIGNING})) as there
  `.execute(db);
  return rows[0]?.there ?? true;
}

/** Whether there ever was work that an older release may have begun. */
export async function hasSessions(db: Db): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`select exists(select from sessions) as there`.execute(db);
  return rows[0]?.there ?? true;
}

/** Says that a process that signs is there. */
export async function noteSigner(db: Db): Promise<void> {
  await sql`update installation set mac_signer_seen_at = now()`.execute(db);
}

/**
 * Whether sessions were made at a time when no process that signs was there: by an older release, to which the installation had gone
 * back. `graceSeconds`: for so long a process that signs may not have said that it is there.
 */
export async function wasGoneBack(db: Db, graceSeconds: number): Promise<boolean> {
  const { rows } = await sql<{ made: boolean }>`
    select exists(
      select from sessions, installation
      where mac_signer_seen_at + make_interval(secs => ${graceSeconds}) < now()
        and sessions.created_at > mac_signer_seen_at + make_interval(secs => ${graceSeconds})
    ) as made
  `.execute(db);
  return rows[0]?.made ?? false;
}

/** What has no MAC counts from now on: an older release is there. */
export async function dropRequirement(db: Db): Promise<void> {
  await sql`update installation set mac_required_since = null where mac_required_since is not null`.execute(db);
}

/**
 * From now on MACs are required, where they are not yet: after so many seconds, in which every process hears of it, or at once in an
 * installation that has no sessions yet.
 */
export async function requireMacs(db: Db, afterSeconds: number): Promise<void> {
  await sql`
    update installation set mac_required_since = now() + case
      when exists(select from sessions) then make_interval(secs => ${afterSeconds}) else interval '0' end
    where mac_required_since is null
  `.execute(db);
}
