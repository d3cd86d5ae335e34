/** Transactions that write to the model. */
import { holdModel, lockModel } from '../../store/propagation/model-lock.ts';
import type { ModelDependencies, ModelWrite } from './dependencies.ts';

/** Runs work that writes to one resource; several of them go on at once. */
export function writeOne<T>(deps: ModelDependencies, work: (write: ModelWrite) => Promise<T>): Promise<T> {
  return deps.db.transaction().execute(async (trx) => {
    await holdModel(trx);
    return work({ trx, now: deps.clock(), actor: deps.actor });
  });
}

/** Runs work that joins resources: connections, removals, staging. No other write to the model goes on meanwhile. */
export function writeJoined<T>(deps: ModelDependencies, work: (write: ModelWrite) => Promise<T>): Promise<T> {
  return deps.db.transaction().execute(async (trx) => {
    await lockModel(trx);
    return work({ trx, now: deps.clock(), actor: deps.actor });
  });
}
