import { noteSecretChange } from '../../store/batches/batch-holds.ts';
import { announceBatcher } from '../../store/batches/batcher-state.ts';
import type { Db } from '../../store/connection/database.ts';

/** A secret was set: batches that a fault of the controller holds are tried again at once. */
export async function retryAfterSecret(db: Db): Promise<void> {
  await noteSecretChange(db);
  await announceBatcher(db);
}
