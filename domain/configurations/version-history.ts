/** Versions of a configuration, walked back from what it is now by what the audit has of its changes. */
import type { VersionAction } from './history-schema.ts';

type Members = Record<string, unknown>;

/** A change as the audit has it: of an update, only what differs. */
export interface RecordedChange {
  id: string;
  before: Members | null;
  after: Members | null;
}

/** What a configuration was after a change; null: there was none. */
export type Content = Members | null;

/** Returns how a change made its version. */
export function versionAction({ before, after }: Pick<RecordedChange, 'before' | 'after'>): VersionAction {
  if (after === null) return 'delete';
  return before === null ? 'create' : 'update';
}

/**
 * Returns what the configuration was after a change.
 * @param later what is known of that from what came later
 */
export function contentAfter({ before, after }: RecordedChange, later: Content): Content {
  if (after === null) return null;
  const base = before === null ? {} : without(later ?? {}, Object.keys(before));
  return { ...base, ...keptOf(after, later) };
}

/** Returns what it was before the change, by what it was after it. */
export function contentBefore({ before, after }: RecordedChange, content: Content): Content {
  if (before === null) return null;
  return after === null ? before : { ...without(content ?? {}, Object.keys(after)), ...before };
}

/** Returns the members of a content that were too large for the audit. */
export function notKept(content: Content): string[] {
  return Object.entries(content ?? {}).flatMap(([member, value]) => (isCut(value) ? [member] : []));
}

/** Whether this stands for a value that was too large: its beginning, its length and its hash. */
function isCut(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value);
  return names.length === 3 && ['cut', 'length', 'sha256'].every((name) => names.includes(name));
}

/** The members of a change; where one was cut, what is known of it from later. */
function keptOf(after: Members, later: Content): Members {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [
      name,
      isCut(value) && later !== null && Object.hasOwn(later, name) ? later[name] : value,
    ]),
  );
}

function without(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
