/** Versions of a stored configuration, as clients name them: `ETag` of an answer, `If-Match` and `If-None-Match` of a write. */
import { musterError } from '../errors.ts';
import { someOf } from '../some-of.ts';

/** What tells a stored version from every other. */
export interface Version {
  /** Of no other write of this database. */
  revision: number;
  /** Tells versions apart that a restored backup and the time after it have numbered alike. */
  updatedAt: Date;
  /** Who wrote it; null where nobody is known. */
  actor: string | null;
}

/** Returns the strong entity tag of a version. */
export function tagOf({ revision, updatedAt }: Pick<Version, 'revision' | 'updatedAt'>): string {
  return `"${revision}-${updatedAt.getTime().toString(36)}"`;
}

/** What a write demands of the version that it changes: any, one of these tags, that there is none, or nothing. */
export type Precondition = { tags: readonly string[] } | { exists: boolean } | null;

/** An entity tag, weak or strong. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

export interface PreconditionHeaders {
  ifMatch?: string | undefined;
  ifNoneMatch?: string | undefined;
}

/**
 * Reads `If-Match` and `If-None-Match`. Returns null where both are absent. Throws `bad_request` for both at once, for an `If-Match`
 * that is neither `*` nor a list of entity tags, and for an `If-None-Match` that is not `*`.
 */
export function readPrecondition({ ifMatch, ifNoneMatch }: PreconditionHeaders): Precondition {
  if (ifNoneMatch !== undefined) {
    if (ifMatch !== undefined) throw musterError('bad_request', 'Give If-Match or If-None-Match, not both');
    if (ifNoneMatch.trim() === '*') return { exists: false };
    throw musterError('bad_request', `The header If-None-Match of a write must be *, not ${ifNoneMatch}`);
  }
  if (ifMatch === undefined) return null;
  if (ifMatch.trim() === '*') return { exists: true };
  // No tag of ours has a comma in it.
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  const odd = tags.find((tag) => !ENTITY_TAG.test(tag));
  if (odd !== undefined) {
    throw musterError(
      'bad_request',
      `The header If-Match must be * or the ETag of an answer with its quotation marks, not ${odd}`,
    );
  }
  return { tags };
}

/**
 * Throws `changed_since` unless the stored version is what the precondition demands; undefined: there is none. Weak tags match nothing,
 * because the comparison is strong. The sentence names both versions.
 */
export function requireVersion(name: string, stored: Version | undefined, precondition: Precondition): void {
  if (precondition === null) return;
  if ('exists' in precondition && !precondition.exists) {
    if (stored === undefined) return;
    throw musterError(
      'changed_since',
      `There is a configuration ${name} already${writtenText(stored)}; you demand that there is none`,
    );
  }
  const wanted = 'tags' in precondition ? `your version is ${someOf(precondition.tags)}` : 'you demand that it exists';
  if (stored === undefined) {
    throw musterError('changed_since', `There is no configuration ${name} any more; ${wanted}`);
  }
  if ('exists' in precondition || precondition.tags.includes(tagOf(stored))) return;
  throw musterError(
    'changed_since',
    `Configuration ${name} has changed since: ${wanted}, the stored one is ${tagOf(stored)}${writtenText(stored)}`,
  );
}

function writtenText({ actor, updatedAt }: Version): string {
  return `, written${actor === null ? '' : ` by ${actor}`} at ${updatedAt.toISOString()}`;
}
