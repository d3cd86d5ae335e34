import { type MusterError, musterError } from '../../domain/errors.ts';
import type { GivenEvent } from '../../domain/propagation/event-schema.ts';
import { deleteEvent, deleteEvents, type EventFilter, type EventRow } from '../../store/propagation/resource-events.ts';
import { addUserEvents } from './connection-events.ts';
import type { ModelDependencies } from './dependencies.ts';
import { writeOne } from './write-model.ts';

/**
 * Adds events, all or none. An event that is there stays; it no longer goes with a connection that made it. Returns the events.
 * Throws `event_syntax`, `event_condition`, `event_ambiguous`, `unknown_resource`, `action_not_defined`.
 */
export async function addEvents(deps: ModelDependencies, given: string | readonly GivenEvent[]): Promise<EventRow[]> {
  return writeOne(deps, (write) => addUserEvents(write, given));
}

/**
 * Removes one event.
 * Throws `event_not_found`.
 */
export async function removeEvent(deps: ModelDependencies, id: string): Promise<void> {
  const removed = await writeOne(deps, ({ trx }) => deleteEvent(trx, id));
  if (!removed) throw eventNotFound(id);
}

/** Removes the events that meet every condition. Returns their number. */
export async function removeEvents(deps: ModelDependencies, filter: EventFilter): Promise<number> {
  return writeOne(deps, ({ trx }) => deleteEvents(trx, filter));
}

export function eventNotFound(id: string): MusterError {
  return musterError('event_not_found', `There is no event ${id.slice(0, 300)}`);
}
