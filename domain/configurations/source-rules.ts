import { musterError } from '../errors.ts';
import type { Source, SourcePatch } from './schema.ts';

/**
 * The name that a path segment means. Names of sources contain slashes, so clients encode them twice; the router has
 * decoded once, this is the second time. What is not encoded any more stays as it is (cfs-api 12).
 */
export function sourceNameOfPath(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Name under which a new source keeps its credentials. */
export function secretNameOf(uuid: string): string {
  return `cfs-source-credentials-${uuid}`;
}

/** Whether Muster made this secret for a source; only such a one goes with its source. */
export function isSourceSecret(secretName: string): boolean {
  return secretName.startsWith(secretNameOf(''));
}

/** New credentials of a patch, null when it has none; one of the two alone is `invalid_credentials`. */
export function credentialsOf(patch: SourcePatch): { username: string; password: string } | null {
  const { username, password } = patch.credentials ?? {};
  if (username === undefined && password === undefined) return null;
  if (username === undefined || password === undefined) {
    throw musterError('invalid_credentials', 'Both username and password are needed', 'credentials');
  }
  return { username, password };
}

/** The record after a patch, without its credentials, which live elsewhere; `ca_cert` null clears. */
export function patchSource(stored: Source, patch: SourcePatch, lastUpdated: string): Source {
  return {
    ...stored,
    ...(patch.description === undefined ? {} : { description: patch.description }),
    ...(patch.clone_url === undefined ? {} : { clone_url: patch.clone_url }),
    ...(patch.ca_cert === undefined ? {} : { ca_cert: patch.ca_cert }),
    last_updated: lastUpdated,
  };
}
