import type { Configuration } from '../../../domain/configurations/schema.ts';
import { type ApiRequest, segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import { type Document, readDocuments, requiredText } from '../../input/documents.ts';
import { apiOf, type OutputOptions, showRequests, type WriteOptions } from '../../options.ts';
import { writeList } from '../../output/render.ts';
import { configurationView } from './configuration-view.ts';

export interface ApplyConfigurationsOptions extends OutputOptions, WriteOptions {
  file: string;
  cloneUrl?: string;
  branch?: string;
  dropBranches?: boolean;
}

/** Sends each record of the file as a PUT and writes the stored ones. All are checked for a name before the first is sent. */
export async function applyConfigurations(context: CliContext, options: ApplyConfigurationsOptions): Promise<void> {
  const api = apiOf(context, options);
  const records = await readDocuments(context, options.file, 'configurations');
  const requests = records.map((record, index) => putRequest(record, index, options));
  if (options.dryRun) return showRequests(context, api, requests);
  const stored: Configuration[] = [];
  for (const request of requests) {
    stored.push(await api.json<Configuration>(request));
    say(context, `configuration ${stored.at(-1)?.name} stored (PUT)`);
  }
  await writeList(context, configurationView, stored, options.output);
}

/** A record as `get` shows it can be applied again: its name goes into the path, the server's own members are left out. */
function putRequest(record: Document, index: number, options: ApplyConfigurationsOptions): ApiRequest {
  const name = requiredText(record, 'name', `configuration ${index}`);
  const { name: _name, last_updated: _updated, layers, additional_inventory: inventory, ...rest } = record;
  if (!Array.isArray(layers)) throw usage(`configuration ${name} has no list of layers`);
  return {
    method: 'PUT',
    path: `/v3/configurations/${segment(name)}`,
    ...(options.dropBranches ? { query: { drop_branches: true } } : {}),
    body: {
      ...rest,
      layers: layers.map((layer: unknown) => filled(layer, options)),
      ...(inventory === undefined ? {} : { additional_inventory: filled(inventory, {}) }),
    },
  };
}

/**
 * A layer with the repository and branch of the options where it names none. One with branch and commit, as the server shows
 * it, keeps the branch: both at once are refused, and the branch is resolved anew (cfs-api 11).
 */
function filled(
  layer: unknown,
  { cloneUrl, branch }: Pick<ApplyConfigurationsOptions, 'cloneUrl' | 'branch'>,
): unknown {
  if (typeof layer !== 'object' || layer === null) return layer;
  const { commit, ...rest } = layer as Document;
  const named = 'clone_url' in layer || 'source' in layer;
  const pinned = 'branch' in layer || commit !== undefined;
  return {
    ...rest,
    ...(commit !== undefined && !('branch' in layer) ? { commit } : {}),
    ...(cloneUrl !== undefined && !named ? { clone_url: cloneUrl } : {}),
    ...(branch !== undefined && !pinned ? { branch } : {}),
  };
}
