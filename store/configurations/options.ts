/** The one record of options: what was ever set is stored, the defaults of the code fill the rest. */
import { sql } from 'kysely';
import { DEFAULT_OPTIONS } from '../../domain/configurations/default-options.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import type { Db } from '../connection/database.ts';

/** All options as they are now. */
export async function readOptions(db: Db): Promise<Options> {
  const row = await db.selectFrom('options').select('record').executeTakeFirst();
  return { ...DEFAULT_OPTIONS, ...row?.record };
}

/** All options, locked until the transaction ends, so that two patches do not undo each other. */
export async function lockOptions(trx: Db): Promise<Options> {
  await trx
    .insertInto('options')
    .values({ record: '{}', updated_at: new Date(0), actor: null })
    .onConflict((conflict) => conflict.column('single').doNothing())
    .execute();
  const row = await trx.selectFrom('options').select('record').forUpdate().executeTakeFirst();
  return { ...DEFAULT_OPTIONS, ...row?.record };
}

/** Channel on which each change of the options is announced when it is committed. */
export const OPTIONS_CHANNEL = 'muster_options';

/** Adds `patch` to what is stored, and tells every process that listens. */
export async function mergeOptions(trx: Db, patch: Partial<Options>, now: Date, actor: string | null): Promise<void> {
  await trx
    .updateTable('options')
    .set({ record: sql`record || ${JSON.stringify(patch)}::jsonb`, updated_at: now, actor })
    .execute();
  await sql`select pg_notify(${OPTIONS_CHANNEL}, '')`.execute(trx);
}
