/** Names that follow from a schedule and from the time of one of its runs. */
import { SESSION_NAME_MAX } from '../sessions/schema.ts';

const PREFIX = 'schedule/';

/** Id of a schedule in the engine. */
export const engineIdOf = (name: string): string => `${PREFIX}${name}`;

/** Name of the schedule with this id in the engine, or null when it is none of the user's. */
export const nameOfEngineId = (id: string): string | null => (id.startsWith(PREFIX) ? id.slice(PREFIX.length) : null);

/** Who a run's writes are by. */
export const scheduleActor = (name: string): string => `schedule/${name}`;

/** Longest prefix of a session's name; the time and four digits of the schedule follow. */
export const SESSION_PREFIX_MAX = SESSION_NAME_MAX - '-20261122030000-1a2b'.length;

/**
 * Name of the session of one run: the prefix (default: the start of the schedule's name), the run's time in UTC and the first
 * digits of the schedule's id, so that two schedules with one prefix do not take each other's names.
 */
export function scheduledSessionName(
  schedule: { id: string; name: string },
  prefix: string | undefined,
  scheduledAt: Date,
): string {
  const start = (prefix ?? schedule.name.slice(0, SESSION_PREFIX_MAX)).replace(/[-.]+$/, '');
  const time = scheduledAt
    .toISOString()
    .replace(/[^0-9]/g, '')
    .slice(0, 14);
  return `${start}-${time}-${schedule.id.slice(0, 4)}`;
}
