import type { Options } from '../../domain/configurations/schema.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Dispatcher } from '../sessions/engine-port.ts';

/** Who writes what the batcher writes. */
export const BATCHER = 'batcher';

export interface BatcherDependencies {
  db: Db;
  /** Told when sessions were made or deleted. */
  dispatcher: Dispatcher;
  clock(): Date;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** The same within one pass, whose options are read once. */
export interface PassDependencies extends BatcherDependencies {
  options: Options;
}
