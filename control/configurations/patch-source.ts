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
import { beginChange, endChange, settleChange } from './source-secrets.ts';

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
  const change = await beginChange(deps.db, secretName);
  let isWritten = false;
  try {
    const others = await otherValues(deps, secretName);
    await deps.secrets.putAll(secretName, { ...others, ...credentials }, by.actor);
    isWritten = true;
    return await deps.db.transaction().execute(async (trx) => {
      const record = await update(deps, by, trx, name, patch);
      await endChange(trx, change);
      return record;
    });
  } catch (error) {
    // Deleted meanwhile, its secret perhaps before ours was written. A store that failed is not waited for a second time.
    const settling = settleChange(deps, change);
    if (isWritten) await settling;
    throw error;
  }
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
