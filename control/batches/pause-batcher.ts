import type { Acting } from '../../domain/access/acting.ts';
import type { BatchPause } from '../../domain/batches/batch-schema.ts';
import { musterError } from '../../domain/errors.ts';
import { isKnownKey } from '../../store/batches/batch-reads.ts';
import { announceBatcher, writeKeyPaused, writePaused } from '../../store/batches/batcher-state.ts';
import type { Db } from '../../store/connection/database.ts';

export interface PauseDependencies {
  db: Db;
  clock(): Date;
}

/**
 * Stops the sending of all batches, or of those of one key; what is sent goes on. Throws `batch_key_not_found` for a key that
 * no batch has and of which nothing is remembered.
 */
export async function pauseBatcher(deps: PauseDependencies, by: Acting, request: BatchPause): Promise<void> {
  await write(deps, by, request.key, true);
}

/** Lets all batches, or those of one key, go on; a pass follows at once. Throws `batch_key_not_found`. */
export async function resumeBatcher(deps: PauseDependencies, by: Acting, request: BatchPause): Promise<void> {
  await write(deps, by, request.key, false);
}

/** Asks for a pass now, whatever the interval. */
export async function tickBatcher({ db }: Pick<PauseDependencies, 'db'>): Promise<void> {
  await announceBatcher(db);
}

async function write(
  { db, clock }: PauseDependencies,
  { actor }: Acting,
  key: string | undefined,
  paused: boolean,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const now = clock();
    if (key === undefined) await writePaused(trx, paused, actor, now);
    else {
      if (!(await isKnownKey(trx, key))) {
        throw musterError('batch_key_not_found', `No batch has the key ${key}, and nothing is remembered of it`, 'key');
      }
      await writeKeyPaused(trx, key, { paused, actor, now });
    }
    await announceBatcher(trx);
  });
}
