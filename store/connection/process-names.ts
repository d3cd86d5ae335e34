/** By what the connections of processes are known in the database: what a process of this release can, and an older one cannot. */
import { sql } from 'kysely';
import type { Db } from './database.ts';

/** Names of the connections of processes that speak to the engine, as the first releases use them. */
const SPEAKERS = ['muster-api', 'muster-worker', 'muster-images'];

/**
 * Name of the connections of a process: that it signs what goes through the engine (where it has a key), and that it knows sealed
 * addresses of webhooks.
 */
export function connectionName(process: string, { signs }: { signs: boolean }): string {
  return `${process} (${signs ? 'signs, seals' : 'seals'})`;
}

/** Names of processes that do not sign: of older releases, and of this one where there is no key. */
export const UNSIGNING = SPEAKERS.flatMap((name) => [name, connectionName(name, { signs: false })]).flatMap((name) => [
  name,
  `${name}-watch`,
]);

/** Of API and worker that know nothing of sealed addresses, with a key for MACs or without. */
const UNSEALING = ['muster-api', 'muster-worker'].flatMap((name) =>
  [name, `${name} (signs)`].flatMap((each) => [each, `${each}-watch`]),
);

/** So long no older release must have been seen, seconds: a process that connects again is away for a moment. */
const ALONE_SECONDS = 30;

/**
 * Notes whether an older release is connected that knows nothing of sealed addresses; answers whether none was at this look and at one
 * before.
 */
export async function isWithoutUnsealing(db: Db): Promise<boolean> {
  const { rows } = await sql<{ alone: boolean | null }>`
    update installation set sealing_since = case
      when exists(select from pg_stat_activity
        where datname = current_database() and application_name = any(${UNSEALING})) then null
      else coalesce(sealing_since, now()) end
    returning sealing_since <= now() - make_interval(secs => ${ALONE_SECONDS}) as alone
  `.execute(db);
  return rows[0]?.alone ?? false;
}
