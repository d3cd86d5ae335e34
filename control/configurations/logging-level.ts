import type { Options } from '../../domain/configurations/schema.ts';
import { OPTIONS_CHANNEL, readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { openListener } from '../../store/connection/listener.ts';

const LEVELS: Record<Options['logging_level'], string> = {
  DEBUG: 'debug',
  INFO: 'info',
  WARNING: 'warn',
  ERROR: 'error',
};
/** How soon a process notices what another one set when the announcement was lost, ms. */
const SAFETY = 2_000;

/** Makes option `logging_level` the level of this process (cfs-api 4). */
export function applyLoggingLevel(log: { level: string }, options: Pick<Options, 'logging_level'>): void {
  log.level = LEVELS[options.logging_level];
}

export interface FollowOptions {
  db: Db;
  /** Where changes of the options are announced. */
  database: { url: string; ca?: string | undefined };
  log: { level: string };
  /** How often the option is looked at without an announcement, ms. */
  safetyMs?: number;
}

/**
 * Keeps the level of this process at the option's, at once also when another process sets it; answers how to stop. While the
 * database is away the level stays as it is.
 */
export function followLoggingLevel({ db, database, log, safetyMs = SAFETY }: FollowOptions): () => Promise<void> {
  // Answers may come in another order than the questions.
  let asked = 0;
  let applied = 0;
  const read = () => {
    const turn = ++asked;
    readOptions(db).then(
      (options) => {
        if (turn < applied) return;
        applied = turn;
        applyLoggingLevel(log, options);
      },
      () => undefined,
    );
  };
  const listener = openListener({
    ...database,
    name: 'muster-options',
    channel: OPTIONS_CHANNEL,
    onNotification: read,
    onConnected: read,
  });
  const timer = setInterval(read, safetyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await listener.close();
  };
}
