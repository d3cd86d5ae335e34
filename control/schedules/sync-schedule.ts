import type { Db } from '../../store/connection/database.ts';
import { findSchedule, markScheduleSynced, noteScheduleUnsynced } from '../../store/schedules/schedules.ts';
import { engineSentence } from '../temporal/engine-sentence.ts';
import type { ScheduleEngine } from './schedule-port.ts';

export interface SyncScheduleDependencies {
  db: Db;
  schedules: ScheduleEngine;
  log: { warn(fields: object, message: string): void };
}

export interface SyncOutcome {
  synced: boolean;
  /** Why the engine does not have it. */
  error: string | null;
}

/** How often the record may be written by others while the engine is told of it. */
const ATTEMPTS = 5;

/**
 * Gives the engine the schedule as its record stands, and takes it away when there is no record. Looks again afterwards: of
 * two that do this at the same time the newer record wins. An engine that is away is no error: the outcome, the record and the log
 * say it, and the sweep does it later.
 */
export async function syncSchedule(deps: SyncScheduleDependencies, name: string): Promise<SyncOutcome> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const row = await findSchedule(deps.db, name);
    try {
      if (row === null) await deps.schedules.remove(name);
      else await deps.schedules.apply(row);
    } catch (error) {
      const sentence = engineSentence(error);
      deps.log.warn({ schedule: name, err: sentence }, 'Temporal was not told of a schedule; the sweep tells it');
      if (row !== null) await noteScheduleUnsynced(deps.db, row.id, sentence);
      return { synced: false, error: sentence };
    }
    const stands =
      row === null
        ? (await findSchedule(deps.db, name)) === null
        : await markScheduleSynced(deps.db, row.id, row.revision);
    if (stands) return { synced: true, error: null };
  }
  return { synced: false, error: 'the schedule is being changed by others' };
}
