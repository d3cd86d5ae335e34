import type { Component, ComponentListQuery, ComponentView } from '../../domain/components/schema.ts';
import { componentLogs, componentView } from '../../domain/components/view.ts';
import type { Options } from '../../domain/configurations/schema.ts';
import { type MusterError, musterError } from '../../domain/errors.ts';
import { findComponent } from '../../store/components/components.ts';
import { readOptions } from '../../store/configurations/options.ts';
import type { Db } from '../../store/connection/database.ts';
import { createStatusReader, type StatusReader } from './desired-layers.ts';
import { selectComponents, selectionOf } from './select-components.ts';

export interface ReadComponentsDependencies {
  db: Db;
  publicUrl: string;
  araUrl: string | undefined;
}

type Details = Pick<ComponentListQuery, 'state_details' | 'config_details'>;

export function componentNotFound(id: string): MusterError {
  return musterError('component_not_found', `Component ${id} could not be found`);
}

/** The component as GET shows it, or `component_not_found`. */
export async function getComponent(
  deps: ReadComponentsDependencies,
  id: string,
  details: Details,
): Promise<ComponentView> {
  const [component, options] = await Promise.all([findComponent(deps.db, id), readOptions(deps.db)]);
  if (component === undefined) throw componentNotFound(id);
  const reader = createStatusReader(deps.db, options);
  await reader.prepare([component]);
  return view(deps, component, reader, details, options);
}

/** A page of the list, read while it is sent: its memory does not grow with the limit. */
export interface ComponentPages {
  limit: number;
  /** Not more than `limit` components in all, in the order of their ids. */
  batches: AsyncGenerator<ComponentView[]>;
  /** Whether more match; known when `batches` has ended. */
  more(): boolean;
}

/** Components that match, from after `after_id` on (cfs-api 3, 6.5). Throws `bad_tags` before anything is read. */
export async function listComponents(
  deps: ReadComponentsDependencies,
  query: ComponentListQuery,
): Promise<ComponentPages> {
  const selection = selectionOf(query);
  const options = await readOptions(deps.db);
  const limit = query.limit ?? options.default_page_size;
  let more = false;
  async function* batches(): AsyncGenerator<ComponentView[]> {
    let left = limit;
    const batchesOfRecords = selectComponents({
      db: deps.db,
      options,
      selection,
      status: query.status,
      afterId: query.after_id ?? '',
      wanted: limit + 1,
      lock: 'none',
    });
    for await (const { components, reader } of batchesOfRecords) {
      more = components.length > left;
      const shown = components.slice(0, left);
      left -= shown.length;
      yield shown.map((component) => view(deps, component, reader, query, options));
    }
  }
  return { limit, batches: batches(), more: () => more };
}

function view(
  deps: ReadComponentsDependencies,
  component: Component,
  reader: StatusReader,
  details: Details,
  options: Options,
): ComponentView {
  return componentView(component, reader.of(component), {
    state: details.state_details ?? false,
    desiredState: details.config_details ? reader.desiredState(component) : undefined,
    logs: options.include_ara_links ? componentLogs(component.id, deps) : undefined,
  });
}
