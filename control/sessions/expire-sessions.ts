import { timeBefore } from '../../domain/age.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { deleteSessionRows } from '../../store/sessions/session-queries.ts';

export interface ExpireDependencies {
  db: Db;
  readOptions(): Promise<Pick<Options, 'session_ttl'>>;
  clock(): Date;
  /** Sessions deleted in one transaction; default 1,000, a fraction of a second. */
  batch?: number;
}

const BATCH = 1_000;

/**
 * Deletes the complete sessions whose end, else their start, is `session_ttl` ago or longer (cfs-api 10); an empty option
 * keeps them all. Goes on in small transactions until none is left, and looks at the option before each, so that a change
 * counts at once. Answers how many it deleted; repeating it is harmless.
 */
export async function expireSessions({ db, readOptions, clock, batch = BATCH }: ExpireDependencies): Promise<number> {
  for (let deleted = 0; ; ) {
    const { session_ttl } = await readOptions();
    const now = clock();
    const endedBefore = timeBefore(now, session_ttl);
    if (endedBefore === null) return deleted;
    const { names } = await db.transaction().execute((trx) =>
      deleteSessionRows(
        trx,
        { endedBefore, limit: batch },
        {
          reason: `the session was older than session_ttl (${session_ttl})`,
          actor: null,
          now,
        },
      ),
    );
    deleted += names.length;
    if (names.length < batch) return deleted;
  }
}
