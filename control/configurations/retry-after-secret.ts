import { noteSecretChange } from '../../store/batch-holds.ts';
import { announceBatcher } from '../../store/batcher-state.ts';
import type { Db } from '../../store/database.ts';

/** A secret was set: batches that a fault of the controller holds are tried again at once. */
export async function retryAfterSecret(db: Db): Promise<void> {
  await noteSecretChange(db);
  await announceBatcher(db);
}
