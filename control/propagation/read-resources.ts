/** The model as it is shown. */
import { type MusterError, musterError } from '../../domain/errors.ts';
import { detailLines } from '../../domain/propagation/diff.ts';
import type { PropagationEvent } from '../../domain/propagation/event-schema.ts';
import { renderEvent } from '../../domain/propagation/event-text.ts';
import type { ResourceState } from '../../domain/propagation/item-state.ts';
import { inputMistakes } from '../../domain/propagation/own-inputs.ts';
import type {
  ConnectionView,
  EventView,
  ResourceDetail,
  ResourceView,
  StagedItemView,
} from '../../domain/propagation/schema.ts';
import { parseTags } from '../../domain/propagation/tags.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  type ConnectionFilter,
  type ConnectionRow,
  findConnection,
  listConnections,
} from '../../store/propagation/connections.ts';
import { type EventFilter, type EventRow, findEvent, listEvents } from '../../store/propagation/resource-events.ts';
import { findCommitted, listResources, type ResourceRow } from '../../store/propagation/resources.ts';
import { findItems, listItemPage, type StagedItemRow } from '../../store/propagation/staged-items.ts';
import { mapPage, onePage, type Page } from '../changes/pages.ts';
import { eventNotFound } from './add-events.ts';
import { committedOf, readCurrent } from './current-resources.ts';
import { changeNotFound } from './discard-changes.ts';
import { resourceNotFound } from './stage-edit.ts';

export interface ResourceQuery {
  tags?: string | undefined;
  state?: ResourceState | undefined;
  prefix?: string | undefined;
}

/**
 * Returns a page of resources by name.
 * Throws `tag_syntax`.
 */
export async function pageOfResources(
  db: Db,
  { tags, ...filter }: ResourceQuery,
  after: string,
  limit: number,
): Promise<Page<ResourceView>> {
  const expressions = tags === undefined ? undefined : [parseTags(tags)];
  return mapPage(
    await onePage(limit, (rows) => listResources(db, { ...filter, tags: expressions }, after, rows)),
    viewOfResource,
  );
}

/**
 * Returns a resource with its values, where they come from, and what is committed of it.
 * Throws `resource_not_found`.
 */
export async function getResource(db: Db, name: string): Promise<ResourceDetail> {
  const { rows, current, into } = await readCurrent(db, [name]);
  const [row, now] = [rows.get(name), current.get(name)];
  if (row === undefined || now === undefined) throw resourceNotFound(name);
  const committed = committedOf((await findCommitted(db, [name])).get(name));
  return {
    ...viewOfResource(row),
    resolved: { ...now.resolved },
    sources: (into.get(name) ?? []).map(viewOfConnection),
    mistakes: inputMistakes(row.meta_inputs, now.resolved),
    committed:
      committed === undefined
        ? null
        : {
            ...committed,
            inputs: { ...committed.inputs },
            connections: committed.connections.map((tuple) => [...tuple]),
            tags: [...committed.tags],
          },
  };
}

export function viewOfResource(row: ResourceRow): ResourceView {
  const { name, repository, definition, version, handler, actions, state, tags, inputs, marker } = row;
  return {
    name,
    definition: { repository, name: definition, version },
    handler,
    actions: Object.keys(actions).sort(),
    state,
    tags,
    inputs,
    updated: marker,
  };
}

export function viewOfConnection(row: ConnectionRow): ConnectionView {
  const { id, emitter, emitter_input, receiver, receiver_input, receiver_key } = row;
  return { id, emitter, emitter_input, receiver, receiver_input, key: receiver_key === '' ? null : receiver_key };
}

export function viewOfEvent(row: EventRow): EventView {
  const { id, type, parent, parent_action, on_outcome, child, child_action, source } = row;
  const on = on_outcome as PropagationEvent['on'];
  const text = renderEvent({ type, parent: `${parent}.${parent_action}`, on, child: `${child}.${child_action}` });
  return { id, type, parent, parent_action, on, child, child_action, source, text };
}

export function viewOfItem(row: StagedItemRow): StagedItemView {
  const { uid, resource, action, diff, connections_diff, base_path, tags, state, explicit, plan, staged_at } = row;
  return {
    uid,
    log_action: `${resource}.${action}`,
    resource,
    action,
    diff: shownDiff(diff),
    connections_diff: shownDiff(connections_diff),
    base_path,
    tags,
    state,
    explicit,
    plan,
    staged_at: staged_at.toISOString(),
    details: [...detailLines(diff), ...detailLines(connections_diff)],
  };
}

/** Stored differences are lists that may be changed. */
export function shownDiff(diff: StagedItemRow['diff']): StagedItemView['diff'] {
  return diff.map(([op, path, payload]) => [op, [...path], [...payload]]);
}

/** Returns a page of connections in the order in which they were made, after the one of an id. */
export async function pageOfConnections(
  db: Db,
  filter: ConnectionFilter,
  after: string,
  limit: number,
): Promise<Page<ConnectionView>> {
  const place = after === '' ? 0 : (await connectionOf(db, after)).place;
  return mapPage(await onePage(limit, (rows) => listConnections(db, filter, place, rows)), viewOfConnection);
}

async function connectionOf(db: Db, id: string): Promise<ConnectionRow> {
  const row = isUuid(id) ? await findConnection(db, id) : null;
  if (row === null) throw notAfter(id);
  return row;
}

function notAfter(id: string): MusterError {
  return musterError(
    'bad_request',
    `There is nothing with the id ${id.slice(0, 300)} any more; begin with the first page`,
    'after_id',
  );
}

/** Returns a page of events by their ids. */
export async function pageOfEvents(
  db: Db,
  filter: EventFilter,
  after: string,
  limit: number,
): Promise<Page<EventView>> {
  return mapPage(await onePage(limit, (rows) => listEvents(db, filter, after, rows)), viewOfEvent);
}

/**
 * Returns one event.
 * Throws `event_not_found`.
 */
export async function getEvent(db: Db, id: string): Promise<EventView> {
  const row = await findEvent(db, id);
  if (row === null) throw eventNotFound(id);
  return viewOfEvent(row);
}

/** Returns a page of staged items, oldest first, after the one of a uid. */
export async function pageOfItems(db: Db, after: string, limit: number): Promise<Page<StagedItemView>> {
  const place = after === '' ? 0 : (await itemOfUid(db, after, notAfter(after))).place;
  return mapPage(await onePage(limit, (rows) => listItemPage(db, place, rows)), viewOfItem);
}

/**
 * Returns one staged item.
 * Throws `change_not_found`.
 */
export async function getItem(db: Db, uid: string): Promise<StagedItemView> {
  return viewOfItem(await itemOfUid(db, uid, changeNotFound(uid)));
}

async function itemOfUid(db: Db, uid: string, otherwise: MusterError): Promise<StagedItemRow> {
  const [row] = isUuid(uid) ? await findItems(db, [uid]) : [];
  if (row === undefined) throw otherwise;
  return row;
}
