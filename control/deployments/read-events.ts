/** Events of a deployment: those of one of its AppContexts. */
import { type ContextState, isEnded } from '../../domain/deployments/context-state.ts';
import type { ContextEvent, EventsEnd } from '../../domain/deployments/event-schema.ts';
import { latestInstance } from '../../domain/deployments/history.ts';
import { musterError } from '../../domain/errors.ts';
import type { StreamState } from '../../domain/runs/stream-schema.ts';
import type { Db } from '../../store/connection/database.ts';
import { listEventsAfter, listLastEvents, readContextStream } from '../../store/deployments/context-events.ts';
import { findRecord } from '../../store/deployments/records.ts';
import type { RowSource } from '../runs/row-sources.ts';
import { deploymentNotFound, placeOf } from './read-deployments.ts';
import { standingOf } from './situation.ts';

/**
 * Returns the AppContext whose events are asked for: the last one of the deployment unless it is named. Null where it has none yet.
 * Throws `not_found`, `bad_request`.
 */
export async function instanceOf(db: Db, name: string, asked: string | undefined): Promise<string | null> {
  const { path } = placeOf(name);
  if ((await findRecord(db, { kind: 'group', path })) === null) throw deploymentNotFound(name);
  const { actions, contexts } = await standingOf(db, path);
  if (asked === undefined) return latestInstance(actions);
  if (contexts.has(asked)) return asked;
  throw musterError('not_found', `Deployment '${name}' has no instance '${asked.slice(0, 200)}'`);
}

/** Returns the events of an AppContext as numbered rows. */
export function contextEvents(db: Db, context: string): RowSource<ContextEvent> {
  return {
    key: `context ${context}`,
    head: ({ lastEvent }) => lastEvent,
    after: (seq, limit) => listEventsAfter(db, context, seq, limit),
    last: (limit) => listLastEvents(db, context, limit),
  };
}

/** Returns how far the events of an AppContext can be read; null when it is gone. */
export async function readContextState(db: Db, context: string): Promise<StreamState<EventsEnd> | null> {
  const found = await readContextStream(db, context);
  if (found === null) return null;
  const { state, lastEvent } = found;
  return { lastEvent, lastChunk: 0, over: isEnded(state), deleted: false, end: endOf(context, state) };
}

/** Returns the last message of a stream of events; `status` null: the AppContext was removed. */
export function endOf(instance: string, status: ContextState | null): EventsEnd {
  return { instance, status, deleted: status === null };
}
