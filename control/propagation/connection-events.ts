/** Events that connections make, and events that users give. */
import { type Mistake, musterError } from '../../domain/errors.ts';
import { defaultEvents, type EventPolicy } from '../../domain/propagation/default-events.ts';
import type { GivenEvent, PropagationEvent } from '../../domain/propagation/event-schema.ts';
import { parseEvents, refuseMistakes, renderEvent } from '../../domain/propagation/event-text.ts';
import { readEvents } from '../../domain/propagation/given-events.ts';
import { CANONICAL_ACTIONS } from '../../domain/propagation/item-state.ts';
import { actionOf, resourceOf } from '../../domain/propagation/node-id.ts';
import type { ConnectionRow } from '../../store/propagation/connections.ts';
import { type EventRow, findEvents, insertEvents } from '../../store/propagation/resource-events.ts';
import { findResources, type ResourceRow } from '../../store/propagation/resources.ts';
import { sha256 } from './definition-content.ts';
import type { ModelWrite } from './dependencies.ts';

/** Returns the id of an event: two events that say the same are one event. */
export function eventIdOf(event: PropagationEvent): string {
  return sha256(renderEvent(event));
}

/** Adds the events that a policy makes of a connection. Without a connection there is nothing that they would follow. */
export async function addDefaultEvents(
  write: ModelWrite,
  made: { emitter: ResourceRow; receiver: ResourceRow; policy: EventPolicy; connection: ConnectionRow | undefined },
): Promise<EventRow[]> {
  const { emitter, receiver, policy, connection } = made;
  if (connection === undefined) return [];
  const actions = Object.keys(receiver.actions);
  const events = defaultEvents({ emitter: emitter.name, receiver: receiver.name, policy, actions });
  return add(write, events, `default:${connection.id}`, connection.id);
}

/**
 * Adds the events that a user gives, as text or as a list, all or none.
 * Throws `event_syntax`, `event_condition`, `event_ambiguous`, `unknown_resource`, `action_not_defined`.
 */
export async function addUserEvents(write: ModelWrite, given: string | readonly GivenEvent[]): Promise<EventRow[]> {
  const rows = await findResources(write.trx, [...namesIn(given)]);
  const known = new Map(rows.map((row) => [row.name, row]));
  const defines = (resource: string, action: string) =>
    CANONICAL_ACTIONS.some((canonical) => canonical === action) ||
    Object.hasOwn(known.get(resource)?.actions ?? {}, action);
  const resources = [...known.keys()];
  if (typeof given === 'string') return add(write, parseEvents(given, { resources, defines }), 'user', null);
  const events = readEvents(given, [], resources);
  refuseMistakes(events.flatMap((event, index) => undefinedActions(event, index, defines)));
  return add(write, events, 'user', null);
}

/** Every text that may name a resource: each word, and what stands before its last dot. */
function namesIn(given: string | readonly GivenEvent[]): Set<string> {
  const lines = typeof given === 'string' ? given.split('\n') : given;
  const words = lines.flatMap((line) => (typeof line === 'string' ? line.split(/\s+/) : [line.parent, line.child]));
  return new Set(words.flatMap((word) => [word, word.slice(0, Math.max(0, word.lastIndexOf('.')))]).filter(Boolean));
}

function undefinedActions(
  { parent, child }: PropagationEvent,
  index: number,
  defines: (resource: string, action: string) => boolean,
): Mistake[] {
  const ends = Object.entries({ parent, child }).filter(([, node]) => actionOf(node) !== '*');
  return ends
    .filter(([, node]) => !defines(resourceOf(node), actionOf(node)))
    .map(([member, node]) => ({
      code: 'action_not_defined',
      message: `the resource ${resourceOf(node)} has no action ${actionOf(node)}`,
      field: `events.${index}.${member}`,
      line: index + 1,
    }));
}

/** Events that one call adds at most. */
const MOST_EVENTS = 10_000;

async function add(
  { trx, now, actor }: ModelWrite,
  events: readonly PropagationEvent[],
  source: string,
  connection: string | null,
): Promise<EventRow[]> {
  if (events.length > MOST_EVENTS) {
    throw musterError('validation_failed', `${events.length} events are too many for one call: at most ${MOST_EVENTS}`);
  }
  const rows = new Map(
    events.map((event) => [
      eventIdOf(event),
      {
        id: eventIdOf(event),
        type: event.type,
        parent: resourceOf(event.parent),
        parent_action: actionOf(event.parent),
        on_outcome: event.on,
        child: resourceOf(event.child),
        child_action: actionOf(event.child),
        source,
        connection,
        created_at: now,
        actor,
      },
    ]),
  );
  // In one order: two calls that add the same events do not wait for one another.
  const ordered = [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  await insertEvents(trx, ordered);
  return findEvents(trx, [...rows.keys()]);
}
