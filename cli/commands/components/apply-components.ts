import type { ApiClient, ApiRequest } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { unknownConfigurations } from '../../client/unknown-configurations.ts';
import { type CliContext, say } from '../../context.ts';
import { componentPatch, REACHED, statesOf, writable } from '../../input/component-changes.ts';
import { type Document, readDocuments, requiredText } from '../../input/documents.ts';
import { apiOf, type WriteOptions } from '../../options.ts';
import { counted } from '../../output/names.ts';
import { writeData } from '../../output/render.ts';
import { previewRequests } from '../../preview.ts';

export interface ApplyComponentsOptions extends WriteOptions {
  file: string;
  replace?: boolean;
  withState?: boolean;
}

const PATH = '/v3/components';
/** Ids asked for in one request, so that its URL stays short; beyond ten such requests the whole list is cheaper. */
const IDS_IN_URL = 200;

/**
 * Creates the components of the file that are new (one PUT) and patches what differs of the others (one PATCH), so that what
 * they reached stays; with `replace` all are PUT and start from nothing. What they reached is written only with `withState`.
 * Writes the ids, in the file's order.
 */
export async function applyComponents(context: CliContext, options: ApplyComponentsOptions): Promise<void> {
  const api = apiOf(context, options);
  const given = await readDocuments(context, options.file, 'components');
  const ids = given.map((record, index) => requiredText(record, 'id', `component ${index}`));
  const records = given.map((record) => writable(record, options.withState === true));
  const known = options.replace ? new Map<string, Document>() : await stored(api, ids, options.withState === true);
  const isNew = ids.map((id) => !known.has(id));
  const added = records.filter((_, index) => isNew[index]);
  const changed = differences(records, ids, known);
  const requests: ApiRequest[] = [];
  if (added.length > 0) requests.push({ method: 'PUT', path: PATH, body: added });
  if (changed.length > 0) requests.push({ method: 'PATCH', path: PATH, body: changed });
  if (options.dryRun) await previewRequests(context, api, requests, options);
  else for (const request of requests) await api.json(request);
  if (!options.withState) sayLeftOut(context, given, isNew);
  if (requests.length === 0) say(context, `0 changed: ${counted(ids.length, 'component')} as in the file`);
  if (options.dryRun) return;
  const done = [
    ...(added.length > 0
      ? [`${counted(added.length, 'component')} ${options.replace ? 'replaced' : 'created'} (PUT)`]
      : []),
    ...(changed.length > 0 ? [`${counted(changed.length, 'component')} changed`] : []),
  ];
  const warning = await unknownConfigurations(api, [...added, ...changed]);
  for (const [index, line] of done.entries()) {
    say(context, warning && index === done.length - 1 ? `${line}. Warning: ${warning}` : line);
  }
  writeData(context, ids.map((id) => `${id}\n`).join(''));
}

/** What the file wants otherwise than it is stored, by record; records that differ in nothing are left out. */
function differences(records: Document[], ids: string[], known: Map<string, Document>): Document[] {
  return records.flatMap((record, index) => {
    const id = ids[index] as string;
    const before = known.get(id);
    const patch = before && componentPatch(before, record);
    if (!patch) return [];
    // A file may name a component twice: the later record is compared with what the earlier one makes.
    known.set(id, { ...before, ...patch, tags: { ...(before.tags as object), ...(patch.tags as object) } });
    return [{ id, ...patch }];
  });
}

function sayLeftOut(context: CliContext, given: Document[], isNew: boolean[]): void {
  const holds = (record: Document) => REACHED.filter((member) => member in record);
  const members = REACHED.filter((member) => given.some((record) => member in record));
  if (members.length === 0) return;
  const created = given.filter((record, index) => isNew[index] && holds(record).length > 0).length;
  const without = created > 0 ? `, and ${counted(created, 'new component')} created without them` : '';
  say(
    context,
    `${members.join(' and ')} of the file are not written${without}: only runs report them (--with-state writes them)`,
  );
}

/** The components of the ids that are there, as stored. */
async function stored(api: ApiClient, ids: string[], withState: boolean): Promise<Map<string, Document>> {
  const asked = ids.every((id) => !id.includes(',')) && ids.length <= IDS_IN_URL * 10;
  const queries = asked ? chunks(ids).map((chunk) => ({ ids: chunk.join(',') })) : [{}];
  const known = new Map<string, Document>();
  for (const query of queries) {
    const details = withState ? { ...query, state_details: true } : query;
    for (const record of await allPages<Document>(api, PATH, 'components', details)) {
      known.set(String(record.id), 'state' in record ? { ...record, state: statesOf(record.state) } : record);
    }
  }
  return known;
}

function chunks(ids: string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / IDS_IN_URL) }, (_, index) =>
    ids.slice(index * IDS_IN_URL, (index + 1) * IDS_IN_URL),
  );
}
