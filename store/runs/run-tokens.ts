/** Tokens of runs: only their hashes are stored. */
import type { Db } from '../connection/database.ts';

export interface RunTokenOwner {
  runId: string;
  hash: Uint8Array;
  /** When the run ended; null while it is open. */
  endedAt: Date | null;
}

/** Stores the hash of a run's token in place of an older one; false when there is no such run. */
export async function saveRunToken(db: Db, runId: string, hash: Buffer, now: Date): Promise<boolean> {
  const result = await db
    .insertInto('run_tokens')
    .columns(['run_id', 'hash', 'issued_at'])
    .expression((eb) =>
      eb
        .selectFrom('runs')
        .select((run) => ['runs.id', run.val(hash).as('hash'), run.val(now).as('issued_at')])
        .where('runs.id', '=', runId),
    )
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ hash, issued_at: now }))
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** The run that a token is of, or undefined. */
export async function findRunOfToken(db: Db, hash: Buffer): Promise<RunTokenOwner | undefined> {
  const row = await db
    .selectFrom('run_tokens')
    .innerJoin('runs', 'runs.id', 'run_tokens.run_id')
    .select(['runs.id', 'run_tokens.hash', 'runs.ended_at'])
    .where('run_tokens.hash', '=', hash)
    .executeTakeFirst();
  return row && { runId: row.id, hash: row.hash, endedAt: row.ended_at };
}
