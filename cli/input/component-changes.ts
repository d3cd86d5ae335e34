/** What a file says of components, as it is written: what only the server or a run knows is left out. */
import { changedMembers } from './changed-members.ts';
import type { Document } from './documents.ts';

/** Members that the server computes, or only the node tells; a record as `get` shows it can be applied again. */
const COMPUTED = ['configuration_status', 'desired_state', 'logs', 'muster'];

/** What runs have reached on a component: a file is an older or a wished picture of it, never a report. */
export const REACHED = ['state', 'state_append', 'error_count'];

/** A component without what the server computes, and without what runs have reached unless `withState`. */
export function writable(record: Document, withState: boolean): Document {
  const kept = Object.entries(record).filter(
    ([name]) => !COMPUTED.includes(name) && (withState || !REACHED.includes(name)),
  );
  return Object.fromEntries(kept.map(([name, value]) => (name === 'state' ? [name, statesOf(value)] : [name, value])));
}

/** The state without the server's times. */
export function statesOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((layer: unknown) => {
    if (typeof layer !== 'object' || layer === null) return layer;
    const { last_updated: _time, ...rest } = layer as Document;
    return rest;
  });
}

/**
 * The members of a PATCH that makes the stored component as the record says, null where it is so already. Members that the record leaves
 * out stay. So do tags, unless `wholeTags`: then the tags of the record are all that there are to be.
 */
export function componentPatch(
  before: Document,
  { id: _id, tags, ...members }: Document,
  { wholeTags = false }: { wholeTags?: boolean } = {},
): Document | null {
  const patch = { ...changedMembers(before, members), ...tagsPatch(before.tags, tags, wholeTags) };
  if (Object.keys(patch).length === 0) return null;
  // The server sets the errors to 0 with a desired configuration or an emptied state, unless they are given.
  if ('error_count' in members && ('desired_config' in patch || 'state' in patch)) {
    patch.error_count = members.error_count;
  }
  return patch;
}

/** Tags merge key by key and an empty value removes: only keys that differ are sent. */
function tagsPatch(before: unknown, wanted: unknown, whole: boolean): Document {
  if (wanted === undefined) return {};
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return { tags: wanted };
  const stored = (before ?? {}) as Document;
  const gone = whole ? Object.keys(stored).filter((key) => !Object.hasOwn(wanted, key)) : [];
  const all = [...Object.entries(wanted), ...gone.map((key): [string, string] => [key, ''])];
  const differing = all.filter(([key, value]) => (Object.hasOwn(stored, key) ? stored[key] : '') !== value);
  return differing.length > 0 ? { tags: Object.fromEntries(differing) } : {};
}
