import type { Configuration } from '../../../domain/configurations/schema.ts';
import { type ApiClient, type ApiRequest, segment } from '../../client/api-client.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';
import { replacesNothing } from '../../input/changed-members.ts';
import { type Document, readDocuments, requiredText } from '../../input/documents.ts';
import { apiOf, type OutputOptions, type WriteOptions } from '../../options.ts';
import { counted } from '../../output/names.ts';
import { policyDropped } from '../../output/policy-text.ts';
import { writeList } from '../../output/render.ts';
import { previewRequests } from '../../preview.ts';
import { configurationView } from './configuration-view.ts';

export interface ApplyConfigurationsOptions extends OutputOptions, WriteOptions {
  file: string;
  cloneUrl?: string;
  branch?: string;
  dropBranches?: boolean;
}

/** Members of a stored configuration that no file can change. */
const SERVERS = ['name', 'last_updated'];

/**
 * Sends each record of the file that changes something as a PUT and writes the stored ones. All are checked for a name before the
 * first is sent. A record with a branch is always sent, since the server looks where the branch is now.
 */
export async function applyConfigurations(context: CliContext, options: ApplyConfigurationsOptions): Promise<void> {
  const api = apiOf(context, options);
  const records = await readDocuments(context, options.file, 'configurations');
  const requests = records.map((record, index) => putRequest(record, index, options));
  const due: ApiRequest[] = [];
  const stored: Configuration[] = [];
  let changed = 0;
  for (const request of requests) {
    const before = await storedRecord(api, request);
    const wanted = request.body as Document;
    const same = before !== undefined && !hasBranch(wanted) && replacesNothing(before, wanted, SERVERS);
    if (options.dryRun) {
      if (!same) due.push(request);
      continue;
    }
    const after = same ? before : await api.json<Configuration & Document>(request);
    stored.push(after);
    const kept = before !== undefined && replacesNothing(before, after, SERVERS);
    if (!kept) changed += 1;
    say(context, `configuration ${after.name} ${kept ? 'unchanged' : 'stored (PUT)'}`);
    if (before?.muster?.rollout !== undefined && after.muster?.rollout === undefined) {
      say(context, policyDropped(after.name, before.muster.rollout));
    }
  }
  if (options.dryRun) return previewRequests(context, api, due, options);
  if (changed === 0) say(context, `0 changed: ${counted(stored.length, 'configuration')} as in the file`);
  await writeList(context, configurationView, stored, options);
}

async function storedRecord(api: ApiClient, { path }: ApiRequest): Promise<(Configuration & Document) | undefined> {
  try {
    return await api.json<Configuration & Document>({ method: 'GET', path });
  } catch (error) {
    if (error instanceof CliFailure && error.exit === EXIT.notFound) return undefined;
    throw error;
  }
}

/** Whether a branch of the record is resolved anew by a PUT. */
function hasBranch({ layers, additional_inventory: inventory }: Document): boolean {
  return [...(layers as unknown[]), inventory].some(
    (layer) => typeof layer === 'object' && layer !== null && 'branch' in layer,
  );
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
