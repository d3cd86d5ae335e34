/** The events of a plan, found from its staged items in one query. */
import { sql } from 'kysely';
import type { PropagationEvent } from '../../domain/propagation/event-schema.ts';
import type { Db } from '../connection/database.ts';

interface EventEnds {
  type: PropagationEvent['type'];
  parent: string;
  parent_action: string;
  on_outcome: PropagationEvent['on'];
  child: string;
  child_action: string;
}

/**
 * Returns the events of all resources that a plan with these items has: theirs, and those of each resource that a reaction brings in. A
 * reaction whose subscriber's resource is removed in the plan brings nothing in. An item `update` of a resource without that action
 * executes `run`: events of `run` are there for both. Events of other resources are not read.
 */
export async function findPlanEvents(
  db: Db,
  staged: readonly { resource: string; action: string }[],
): Promise<PropagationEvent[]> {
  if (staged.length === 0) return [];
  const resources = staged.map(({ resource }) => resource);
  const actions = staged.map(({ action }) => action);
  const removed = staged.filter(({ action }) => action === 'remove').map(({ resource }) => resource);
  const { rows } = await sql<EventEnds>`
    with recursive reached(resource, action) as (
      select resource collate "C", action collate "C" from unnest(${resources}::text[], ${actions}::text[]) as s(resource, action)
      union
      select e.child, e.child_action from reached r, lateral (
        select e.child, e.child_action from propagation_events e
        where e.parent = r.resource and e.type = 'react_on'
          and (e.parent_action = r.action or (e.parent_action = '*' and r.action <> 'remove')
            or (e.parent_action = 'run' and r.action = 'update' and ${lacksUpdate('r.resource')}))
          and not (e.child_action <> 'remove' and e.child = any(${removed}::text[]))
        offset 0) as e
    )
    select e.type, e.parent, e.parent_action, e.on_outcome, e.child, e.child_action
      from (select distinct resource from reached) as r join propagation_events e on e.parent = r.resource
    union all
    select e.type, e.parent, 'update', e.on_outcome, e.child, e.child_action
      from reached r join propagation_events e on e.parent = r.resource and e.parent_action = 'run'
      where r.action = 'update' and ${lacksUpdate('r.resource')}`.execute(db);
  return rows.map(({ type, parent, parent_action, on_outcome, child, child_action }) => ({
    type,
    parent: `${parent}.${parent_action}`,
    on: on_outcome,
    child: `${child}.${child_action}`,
  }));
}

const lacksUpdate = (resource: string) => sql<boolean>`not exists (
  select from propagation_resources p where p.name = ${sql.ref(resource)} and p.actions ? 'update')`;
