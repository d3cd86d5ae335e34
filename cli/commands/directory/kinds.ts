/** The kinds of records that a directory holds: where their lists are, and which members a file has. */
import { type ApiClient, segment, sourceSegment } from '../../client/api-client.ts';
import { pages } from '../../client/pages.ts';
import { writable } from '../../input/component-changes.ts';
import type { Document } from '../../input/documents.ts';

/** In the order in which they are applied: what is named comes before what names it. A folder bears the name of its kind. */
export const KINDS = ['sources', 'options', 'configurations', 'components', 'schedules', 'webhooks'] as const;
export type Kind = (typeof KINDS)[number];

interface KindRules {
  /** One record of the kind, in messages. */
  noun: string;
  /** Member that is the name of a record; null for the one record of options. */
  key: 'name' | 'id' | null;
  path: string;
  /** Part of a path that names a record. */
  segment: (name: string) => string;
  /** Members that the API computes, or never takes back. */
  computed: readonly string[];
}

const SCHEDULE_COMPUTED = ['id', 'pause', 'synced', 'sync_error', 'created_at', 'updated_at', 'updated_by', 'last_run'];

export const RULES: Readonly<Record<Kind, KindRules>> = {
  sources: rules('source', '/v3/sources', ['last_updated'], sourceSegment),
  options: { ...rules('options', '/api/v1/options', ['default_playbook']), key: null },
  configurations: rules('configuration', '/v3/configurations', ['last_updated']),
  components: { ...rules('component', '/v3/components', []), key: 'id' },
  schedules: rules('schedule', '/api/v1/schedules', SCHEDULE_COMPUTED),
  webhooks: rules('webhook', '/api/v1/webhooks', ['waiting', 'created_at', 'updated_at', 'updated_by']),
};

function rules(noun: string, path: string, computed: readonly string[], by = segment): KindRules {
  return { noun, key: 'name', path, segment: by, computed };
}

/** The name of the one record of options. */
export const OPTIONS_NAME = 'options';

/** The kind that a word means, as a folder or a member `kind` has it: `configurations`, `configuration`, `Configuration`; else undefined. */
export function kindOf(word: string): Kind | undefined {
  const given = word.toLowerCase();
  return KINDS.find((kind) => given === kind || given === RULES[kind].noun || `${given}s` === kind);
}

/** The path of a record. */
export const pathOf = (kind: Kind, name: string): string =>
  RULES[kind].key === null ? RULES[kind].path : `${RULES[kind].path}/${RULES[kind].segment(name)}`;

/** A record with the members that a file has: what the API computes is left out, and what runs have reached unless `withState`. */
export function keptOf(kind: Kind, record: Document, withState: boolean): Document {
  if (kind === 'components') return writable(record, withState);
  const { computed } = RULES[kind];
  const kept = Object.entries(record).filter(([name]) => !computed.includes(name));
  // An active schedule says nothing of it.
  return Object.fromEntries(kept.filter(([name, value]) => !(kind === 'schedules' && name === 'paused' && !value)));
}

/** The name of a record as the API lists it. */
export const nameOf = (kind: Kind, record: Document): string => {
  const { key } = RULES[kind];
  return key === null ? OPTIONS_NAME : String(record[key]);
};

/** All records of a kind as they are stored, page after page. */
export async function* storedRecords(api: ApiClient, kind: Kind, withState: boolean): AsyncGenerator<Document> {
  const { path, key } = RULES[kind];
  if (key === null) yield await api.json<Document>({ method: 'GET', path });
  else yield* pages<Document>(api, path, kind, kind === 'components' && withState ? { state_details: true } : {});
}
