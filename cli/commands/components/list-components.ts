import type { ConfigurationStatus } from '../../../domain/components/schema.ts';
import { namedRecords } from '../../client/named-records.ts';
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

/**
 * Writes the components that match, by their ids in natural order. Throws `component_not_found` for names that no component has, after the others
 * were written.
 */
export async function listComponents(context: CliContext, words: string[], options: ListOptions): Promise<void> {
  const api = apiOf(context, options);
  const hosts = await hostsOf(context, words, options.ids);
  const names = hosts === undefined ? undefined : await expandHosts(api, hosts);
  const query = {
    status: options.status,
    config_name: options.config,
    tags: tagFilter(options.tag),
    enabled: options.enabled,
    ...(isValueFormat(options.output) ? { state_details: true } : {}),
  };
  const list = { path: '/v3/components', kind: 'components', query, names };
  await watching(context, options, async () => {
    const records = await namedRecords<ComponentAnswer>(api, list, options.limit);
    records.sort((one, other) => byNaturalOrder(one.id, other.id));
    await writeList(context, componentView, records, options);
  });
  if (hosts !== undefined) requireKnown((await choose(api, { filter: { hosts } })).unknown);
}
