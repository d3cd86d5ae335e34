import type { ConfigurationStatus } from '../../../domain/components/schema.ts';
import type { ApiClient, Query } from '../../client/api-client.ts';
import { pages } from '../../client/pages.ts';
import type { CliContext } from '../../context.ts';
import { tagFilter } from '../../input/pairs.ts';
import { apiOf, type OutputOptions, type WatchOptions } from '../../options.ts';
import { isValueFormat } from '../../output/formats.ts';
import { writeList } from '../../output/render.ts';
import { byNaturalOrder } from '../../output/shape.ts';
import { watching } from '../../watch.ts';
import { choose, expandHosts, hostsOf, requireKnown } from './component-selection.ts';
import { type ComponentAnswer, componentView } from './component-view.ts';

export interface ListOptions extends OutputOptions, WatchOptions {
  limit?: number;
  status?: ConfigurationStatus;
  config?: string;
  tag?: Record<string, string>;
  ids?: string;
  enabled?: boolean;
}

/** Ids in one request, so that its URL stays short. */
const IDS_IN_URL = 500;

/**
 * Writes the components that match, by their ids in natural order. Throws `component_not_found` for names that no component has, after the others
 * were written.
 */
export async function listComponents(context: CliContext, words: string[], options: ListOptions): Promise<void> {
  const api = apiOf(context, options);
  const hosts = await hostsOf(context, words, options.ids);
  const named = hosts === undefined ? undefined : await expandHosts(api, hosts);
  const query = {
    status: options.status,
    config_name: options.config,
    tags: tagFilter(options.tag),
    enabled: options.enabled,
    ...(isValueFormat(options.output) ? { state_details: true } : {}),
  };
  await watching(context, options, async () => {
    const records = await matching(api, query, named, options.limit);
    records.sort((one, other) => byNaturalOrder(one.id, other.id));
    await writeList(context, componentView, records, options);
  });
  if (hosts !== undefined) requireKnown((await choose(api, { filter: { hosts } })).unknown);
}

/** Components of a query. A hostlist that means no name means no component: a request without ids would be for all. */
async function matching(
  api: ApiClient,
  query: Query,
  named: readonly string[] | undefined,
  limit = Number.POSITIVE_INFINITY,
): Promise<ComponentAnswer[]> {
  const queries = named === undefined ? [query] : slices(named).map((ids) => ({ ids: ids.join(','), ...query }));
  const found: ComponentAnswer[] = [];
  for (const one of queries) {
    if (found.length >= limit) break;
    for await (const record of pages<ComponentAnswer>(api, '/v3/components', 'components', one, limit - found.length))
      found.push(record);
  }
  return found;
}

const slices = (names: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(names.length / IDS_IN_URL) }, (_, index) =>
    names.slice(index * IDS_IN_URL, (index + 1) * IDS_IN_URL),
  );
