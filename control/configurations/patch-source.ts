import type { Acting } from '../../domain/access/acting.ts';
import { secretInSource } from '../../domain/configurations/address-secrets.ts';
import type { Source, SourcePatch } from '../../domain/configurations/schema.ts';
import { credentialsOf, patchSource as patched } from '../../domain/configurations/source-rules.ts';
import { isMusterError } from '../../domain/errors.ts';
import { wireTime } from '../../domain/text/times.ts';
import { lockSource, updateSource } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import type { SourceDependencies } from './create-source.ts';
import { getSource, sourceNotFound } from './read-source.ts';
import { writeWithSecret } from './source-secrets.ts';

/**
 * Changes a source (cfs-api 12). Credentials keep the name of their secret and are written first: a failure after that
 * leaves a record that is older than its credentials, and the same request again completes it.
 */
export async function patchSource(
  deps: SourceDependencies,
  by: Acting,
  name: string,
  patch: SourcePatch,
): Promise<Source> {
  const secret = secretInSource(patch.clone_url);
  if (secret !== null) throw secret;
  const stored = await getSource(deps.db, name);
  const credentials = credentialsOf(patch);
  if (credentials === null) return deps.db.transaction().execute((trx) => update(deps, by, trx, name, patch));
  const secretName = stored.credentials.secret_name;
  // A source that is deleted meanwhile has lost its secret perhaps before this one is written, which is then tidied up.
  return await writeWithSecret(
    deps,
    by,
    secretName,
    async () => ({ ...(await otherValues(deps, secretName)), ...credentials }),
    (trx) => update(deps, by, trx, name, patch),
  );
}

async function update(
  deps: SourceDependencies,
  by: Acting,
  trx: Db,
  name: string,
  patch: SourcePatch,
): Promise<Source> {
  const locked = await lockSource(trx, name);
  if (locked === undefined) throw sourceNotFound(name);
  const now = deps.clock();
  const next = patched(locked, patch, wireTime(now));
  await updateSource(trx, next, now, by.actor);
  return next;
}

/** A restored source may name a secret with more keys than its own two. What cannot be read any more is given up. */
async function otherValues(deps: SourceDependencies, secretName: string): Promise<Record<string, string>> {
  try {
    return (await deps.secrets.get(secretName)) ?? {};
  } catch (error) {
    if (isMusterError(error) && error.code === 'secret_unreadable') return {};
    throw error;
  }
}
