import type { ApiClient, ApiRequest } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { type Document, readDocuments, requiredText } from '../../input/documents.ts';
import { apiOf, showRequests, type WriteOptions } from '../../options.ts';
import { writeData } from '../../output/render.ts';
import type { ComponentAnswer } from './component-view.ts';

export interface ApplyComponentsOptions extends WriteOptions {
  file: string;
  replace?: boolean;
}

const PATH = '/v3/components';
/** Ids asked for in one request, so that its URL stays short; beyond ten such requests the whole list is cheaper. */
const IDS_IN_URL = 200;

/** Members that the server computes, or only the node tells; a record as `get` shows it can be applied again. */
const COMPUTED = ['configuration_status', 'desired_state', 'logs', 'muster'];

/**
 * Creates the components of the file that are new (one PUT) and patches the others (one PATCH), so that what they reached
 * stays; with `replace` all are PUT and start from nothing. Writes the ids, in the file's order.
 */
export async function applyComponents(context: CliContext, options: ApplyComponentsOptions): Promise<void> {
  const api = apiOf(context, options);
  const records = (await readDocuments(context, options.file, 'components')).map(writable);
  const ids = records.map((record, index) => requiredText(record, 'id', `component ${index}`));
  const known = options.replace ? new Set<string>() : await existing(api, ids);
  const added = records.filter((_, index) => !known.has(ids[index] ?? ''));
  const changed = records.filter((_, index) => known.has(ids[index] ?? ''));
  const requests: ApiRequest[] = [];
  if (added.length > 0) requests.push({ method: 'PUT', path: PATH, body: added });
  if (changed.length > 0) requests.push({ method: 'PATCH', path: PATH, body: changed });
  if (options.dryRun) return showRequests(context, api, requests);
  for (const request of requests) await api.json(request);
  if (added.length > 0) say(context, `${added.length} components ${options.replace ? 'replaced' : 'created'} (PUT)`);
  if (changed.length > 0) say(context, `${changed.length} components changed (PATCH)`);
  writeData(context, ids.map((id) => `${id}\n`).join(''));
}

function writable(record: Document): Document {
  const kept = Object.entries(record).filter(([name]) => !COMPUTED.includes(name));
  return Object.fromEntries(kept.map(([name, value]) => (name === 'state' ? [name, statesOf(value)] : [name, value])));
}

/** The state without the server's times. */
function statesOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((layer: unknown) => {
    if (typeof layer !== 'object' || layer === null) return layer;
    const { last_updated: _time, ...rest } = layer as Document;
    return rest;
  });
}

async function existing(api: ApiClient, ids: string[]): Promise<Set<string>> {
  const asked = ids.every((id) => !id.includes(',')) && ids.length <= IDS_IN_URL * 10;
  const queries = asked ? chunks(ids).map((chunk) => ({ ids: chunk.join(',') })) : [{}];
  const known = new Set<string>();
  for (const query of queries) {
    for (const { id } of await allPages<ComponentAnswer>(api, PATH, 'components', query)) known.add(id);
  }
  return known;
}

function chunks(ids: string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / IDS_IN_URL) }, (_, index) =>
    ids.slice(index * IDS_IN_URL, (index + 1) * IDS_IN_URL),
  );
}
