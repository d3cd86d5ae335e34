import type { Component, DesiredLayer } from '../../domain/components/schema.ts';
import { type ComponentStatus, configurationStatus, type StatusOptions } from '../../domain/components/status.ts';
import type { Configuration, Layer } from '../../domain/configurations/schema.ts';
import { findConfigurations } from '../../store/configurations/configurations.ts';
import { findSources } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { urlsOf } from '../configurations/source-urls.ts';

/** Answers the status of components for one request; reads each desired configuration and source once. */
export interface StatusReader {
  /** Reads what these components need, before `of` and `desiredState` are asked. */
  prepare(components: readonly Component[]): Promise<void>;
  of(component: Component): ComponentStatus;
  /** The layers of the desired configuration; null where none is desired, or there is none of the name. */
  layersOf(component: Component): readonly Layer[] | null;
  /** The layers of the desired configuration with their statuses (cfs-api 6.5). */
  desiredState(component: Component): DesiredLayer[];
}

/** A reader over `db` for one request, since configurations may change between two. */
export function createStatusReader(db: Db, options: StatusOptions): StatusReader {
  const layers = new Map<string, Layer[] | null>();
  const layersOf = (component: Component) => layers.get(component.desired_config) ?? null;
  const of = (component: Component) => configurationStatus(component, layersOf(component), options);
  return {
    async prepare(components) {
      const names = new Set(components.map((component) => component.desired_config));
      const missing = [...names].filter((name) => name !== '' && !layers.has(name));
      if (missing.length === 0) return;
      for (const [name, found] of await readDesiredLayers(db, missing)) layers.set(name, found);
    },
    of,
    layersOf,
    desiredState(component) {
      const statuses = of(component).layers;
      return (layersOf(component) ?? []).map((layer, index) => ({
        ...layer,
        status: statuses[index] ?? 'unconfigured',
      }));
    },
  };
}

/** The layers of configurations by name, each with its clone URL; null where there is none of the name. */
export async function readDesiredLayers(db: Db, names: readonly string[]): Promise<Map<string, Layer[] | null>> {
  const found = await findConfigurations(db, names);
  const urls = await urlsOfSources(db, found.values());
  return new Map(names.map((name) => [name, found.get(name)?.layers.map((layer) => withUrl(layer, urls)) ?? null]));
}

async function urlsOfSources(db: Db, configurations: Iterable<Configuration>): Promise<Map<string, string>> {
  const names = [...configurations].flatMap((record) => record.layers.flatMap((layer) => layer.source ?? []));
  return urlsOf(await findSources(db, [...new Set(names)]));
}

/** A layer of a source is compared, and shown, with the source's clone URL (cfs-api 7). */
function withUrl(layer: Layer, urls: ReadonlyMap<string, string>): Layer {
  const url = layer.source === undefined ? undefined : urls.get(layer.source);
  return url === undefined ? layer : { ...layer, clone_url: url };
}
