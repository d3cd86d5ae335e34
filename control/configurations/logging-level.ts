import type { Options } from '../../domain/configurations/schema.ts';
import type { Db } from '../../store/database.ts';
import { readOptions } from '../../store/options.ts';

const LEVELS: Record<Options['logging_level'], string> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
};
/** How soon a process notices what another one set, ms. */
const PERIOD = 2_000;

/** Makes option `logging_level` the level of this process (cfs-api 4). */
export function applyLoggingLevel(log: { level: string }, options: Pick<Options, 'logging_level'>): void {
  log.level = LEVELS[options.logging_level];
}

/** Keeps the level of this process at the option's, also when another process sets it; answers how to stop. */
export function followLoggingLevel(db: Db, log: { level: string }): () => void {
  const read = () => {
    // While the database is away the level stays as it is.
    readOptions(db).then(
      (options) => applyLoggingLevel(log, options),
      () => undefined,
    );
  };
  read();
  const timer = setInterval(read, PERIOD);
  timer.unref();
  return () => clearInterval(timer);
}
