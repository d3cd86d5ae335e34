import type { Kysely } from 'kysely';
import type { Options } from '../../domain/configurations/schema.ts';
import type { Database } from '../../store/tables.ts';
import type { Dispatcher } from '../sessions/engine-port.ts';

/** Who writes what the batcher writes. */
export const BATCHER = 'batcher';

export interface BatcherDependencies {
  db: Kysely<Database>;
  /** Told when sessions were made or deleted. */
  dispatcher: Dispatcher;
  clock(): Date;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** The same within one pass, whose options are read once. */
export interface PassDependencies extends BatcherDependencies {
  options: Options;
}
