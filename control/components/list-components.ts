import {
  type ComponentDetail,
  type ComponentItem,
  type ComponentItemsQuery,
  SHOWN_UNKNOWN,
} from '../../domain/components/list-schema.ts';
import type { Component } from '../../domain/components/schema.ts';
import { triesOf, whyOf } from '../../domain/components/why.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import {
  type ComponentDetails,
  countMatchingComponents,
  readComponentDetails,
} from '../../store/components/component-list.ts';
import { findComponent, knownIds } from '../../store/components/components.ts';
import { idsOfFailure } from '../../store/components/last-failures.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { bothOf } from './both-of.ts';
import { createStatusReader, type StatusReader } from './desired-layers.ts';
import { componentNotFound } from './read-components.ts';
import { selectComponents, selectionOf } from './select-components.ts';
import { expandHostlist } from './select-once.ts';

/** Components that are counted exactly. */
const COUNTED = 100_000;

export interface ComponentItemPage {
  components: ComponentItem[];
  /** Whether more match behind them. */
  isMore: boolean;
  /** Undefined where it was not asked for. */
  counted: { total: number; more: boolean } | undefined;
  /** The first names of the hostlist that no component has; undefined without one, and on later pages. */
  unknown: string[] | undefined;
}

/** A page of components with their reasons, in the order of ids. Throws `bad_hostlist`, `hostlist_too_large`, `bad_tags`. */
export async function listComponentItems(db: Db, query: ComponentItemsQuery): Promise<ComponentItemPage> {
  const { after_id: afterId, limit } = query;
  const { named, steps } = await stepsOf(db, query);
  const components: ComponentItem[] = [];
  let found = 0;
  for await (const batch of selectComponents({ ...steps, afterId, wanted: limit + 1 })) {
    found += batch.components.length;
    components.push(...(await itemsOf(db, batch.components, batch.reader, steps.options)));
  }
  const { selection, status, options } = steps;
  const count = query.count ? await countMatchingComponents(db, { ...selection, status, options }, COUNTED + 1) : 0;
  return {
    components: components.slice(0, limit),
    isMore: found > limit,
    counted: query.count ? { total: Math.min(count, COUNTED), more: count > COUNTED } : undefined,
    unknown: named === null || afterId !== '' ? undefined : await unknownOf(db, named),
  };
}

/** All components that match, in pieces, in the order of ids. Throws as `listComponentItems`, before anything is read. */
export async function allComponentItems(db: Db, query: ComponentItemsQuery): Promise<AsyncGenerator<ComponentItem[]>> {
  const { steps } = await stepsOf(db, query);
  async function* pieces() {
    for await (const { components, reader } of selectComponents({ ...steps, afterId: '' })) {
      yield await itemsOf(db, components, reader, steps.options);
    }
  }
  return pieces();
}

async function stepsOf(db: Db, query: ComponentItemsQuery) {
  const { hosts, status, failure, changed_since } = query;
  const chosen = selectionOf(query);
  const named = hosts ? await expandHostlist(db, hosts) : null;
  const failed = failure === undefined ? undefined : await idsOfFailure(db, failure);
  const changedSince = changed_since === undefined ? undefined : new Date(changed_since);
  const selection = { ...chosen, changedSince, ids: bothOf(bothOf(named ?? undefined, chosen.ids), failed) };
  const options = await readOptions(db);
  const steps = { db, options, selection, status: status || undefined, lock: 'none' } as const;
  return { named, steps };
}

/** Everything about one component. Throws `component_not_found`. */
export async function describeComponent(db: Db, id: string): Promise<ComponentDetail> {
  const [component, options] = await Promise.all([findComponent(db, id), readOptions(db)]);
  const details = (await readComponentDetails(db, [id])).get(id);
  if (component === undefined || details === undefined) throw componentNotFound(id);
  const reader = createStatusReader(db, options);
  await reader.prepare([component]);
  return {
    ...itemOf(component, details, reader, options),
    desired: reader.desiredState(component),
    reached: component.state,
    retry_policy: triesOf(component, options),
    changed_by: details.actor,
  };
}

/** One that was deleted between two statements is left out. */
async function itemsOf(
  db: Db,
  components: readonly Component[],
  reader: StatusReader,
  options: Options,
): Promise<ComponentItem[]> {
  const details = await readComponentDetails(
    db,
    components.map(({ id }) => id),
  );
  return components.flatMap((component) => {
    const known = details.get(component.id);
    return known === undefined ? [] : [itemOf(component, known, reader, options)];
  });
}

function itemOf(
  component: Component,
  { updatedAt, session }: ComponentDetails,
  reader: StatusReader,
  options: Options,
): ComponentItem {
  const { id, enabled, desired_config, error_count, tags } = component;
  const status = reader.of(component);
  const why = whyOf({ component, status, layers: reader.layersOf(component), options });
  const updated_at = updatedAt.toISOString();
  return { id, status: status.status, why, enabled, desired_config, error_count, tags, session, updated_at };
}

async function unknownOf(db: Db, names: readonly string[]): Promise<string[]> {
  const known = new Set(await knownIds(db, names));
  return names.filter((name) => !known.has(name)).slice(0, SHOWN_UNKNOWN);
}
