/** Which request makes a record as a file says it, by what is stored. Pure: nothing is asked. */
import type { ApiRequest } from '../../client/api-client.ts';
import { usage } from '../../failure.ts';
import { changedMembers, replacesNothing } from '../../input/changed-members.ts';
import { componentPatch } from '../../input/component-changes.ts';
import type { Document } from '../../input/documents.ts';
import { type Kind, pathOf, RULES } from './kinds.ts';

export interface RecordChange {
  request: ApiRequest;
  /** Only the server can tell whether it changes anything: a branch may have moved, a stored secret is not shown. */
  unsure: boolean;
}

interface Wanted {
  name: string;
  /** Where it stands, for messages. */
  file: string;
  /** As the file says it, without what the API computes. */
  record: Document;
}

type Rule = (wanted: Wanted, stored: Document | undefined) => RecordChange | null;

/** An address whose path is a secret, as the API shows it. */
const MASKED = /\/\*\*\*$/;

const post = (kind: Kind, body: Document): RecordChange => sure({ method: 'POST', path: RULES[kind].path, body });
const patch = (kind: Kind, name: string, body: Document, unsure: boolean): RecordChange | null =>
  Object.keys(body).length === 0 ? null : { request: { method: 'PATCH', path: pathOf(kind, name), body }, unsure };
const sure = (request: ApiRequest): RecordChange => ({ request, unsure: false });

const CHANGES: Readonly<Record<Kind, Rule>> = {
  sources: sourceChange,
  options: ({ name, record }, stored = {}) => patch('options', name, changedMembers(stored, record), false),
  configurations: configurationChange,
  components: componentChange,
  schedules: scheduleChange,
  webhooks: webhookChange,
};

/**
 * The request that makes a record as the file says it; null where it is so already. `stored` as the API shows it, undefined where there is
 * none. Throws a `usage` failure for what no request can make.
 */
export function recordChange(kind: Kind, wanted: Wanted, stored: Document | undefined): RecordChange | null {
  return CHANGES[kind](wanted, stored);
}

/** A source without user and password in the file is made again on the secret that it names. */
function sourceChange({ name, file, record }: Wanted, stored: Document | undefined): RecordChange | null {
  const credentials = (record.credentials ?? {}) as Document;
  const { name: _name, ...members } = record;
  const { secret_name: secret, ...given } = credentials;
  const isGiven = 'username' in given || 'password' in given;
  if (stored === undefined) {
    if (isGiven || secret === undefined)
      return post('sources', { ...record, ...(isGiven ? { credentials: given } : {}) });
    return sure({ method: 'POST', path: pathOf('sources', name), body: members });
  }
  const kept = (stored.credentials as Document | undefined)?.secret_name;
  if (secret !== undefined && secret !== kept) {
    throw usage(
      `${file}: source ${name} has the secret ${String(kept)}, not ${String(secret)}: a source keeps its secret`,
    );
  }
  const { credentials: _credentials, ...rest } = members;
  const body = { ...changedMembers(stored, rest), ...(isGiven ? { credentials: given } : {}) };
  return patch('sources', name, body, isGiven);
}

/** A layer with branch and commit, as the API shows it, keeps the branch: it is resolved anew, and both at once are refused. */
function configurationChange({ name, record }: Wanted, stored: Document | undefined): RecordChange | null {
  const { name: _name, ...rest } = record;
  const body = byBranch(rest);
  const request: ApiRequest = { method: 'PUT', path: pathOf('configurations', name), body };
  if (stored === undefined || !replacesNothing(byBranch(stored), body, ['name', 'last_updated'])) return sure(request);
  return layersOf(body).some(hasBranch) ? { request, unsure: true } : null;
}

const isObject = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const hasBranch = (layer: unknown): boolean => isObject(layer) && 'branch' in layer;
const layersOf = ({ layers, additional_inventory }: Document): unknown[] => [
  ...(Array.isArray(layers) ? layers : []),
  additional_inventory,
];

function byBranch(record: Document): Document {
  const { layers, additional_inventory: inventory } = record;
  const pinned = (layer: unknown): unknown => {
    if (!isObject(layer) || !hasBranch(layer)) return layer;
    const { commit: _commit, ...rest } = layer;
    return rest;
  };
  return {
    ...record,
    ...(Array.isArray(layers) ? { layers: layers.map(pinned) } : {}),
    ...(inventory === undefined ? {} : { additional_inventory: pinned(inventory) }),
  };
}

/** The tags of the file are all that a component is to have. */
function componentChange({ name, record }: Wanted, stored: Document | undefined): RecordChange | null {
  const { path } = RULES.components;
  if (stored === undefined) return sure({ method: 'PUT', path, body: [record] });
  const changed = componentPatch(stored, record, { wholeTags: true });
  return changed && sure({ method: 'PATCH', path, body: [{ id: name, ...changed }] });
}

/** Whether a schedule that is there is paused stays as it is: a person or `stop --all` has paused it. */
function scheduleChange({ name, record }: Wanted, stored: Document | undefined): RecordChange | null {
  if (stored === undefined) return post('schedules', record);
  const { name: _name, paused: _paused, ...body } = record;
  const ignored = [...RULES.schedules.computed, 'name', 'paused'];
  if (replacesNothing(stored, body, ignored)) return null;
  return { request: { method: 'PUT', path: pathOf('schedules', name), body }, unsure: true };
}

/** The path of an address is never shown: a masked address means the one that is stored. */
function webhookChange({ name, file, record }: Wanted, stored: Document | undefined): RecordChange | null {
  const { name: _name, url, ...members } = record;
  const isMasked = typeof url === 'string' && MASKED.test(url);
  if (stored === undefined) {
    if (isMasked)
      throw usage(`${file}: webhook ${name} is not there, and its address is not whole: write it into the file`);
    return post('webhooks', record);
  }
  if (isMasked && url !== stored.url) {
    throw usage(`${file}: the address of webhook ${name} is changed, and not whole: write it into the file`);
  }
  const isHidden = (url !== undefined && !isMasked) || 'secret' in members;
  const body = { ...changedMembers(stored, members), ...(url === undefined || isMasked ? {} : { url }) };
  return patch('webhooks', name, body, isHidden);
}
