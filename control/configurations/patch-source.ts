import type { Source, SourcePatch } from '../../domain/configurations/schema.ts';
import { credentialsOf, isSourceSecret, patchSource as patched } from '../../domain/configurations/source-rules.ts';
import { wireTime } from '../../domain/times.ts';
import { isSecretOfSource, lockSource, updateSource } from '../../store/sources.ts';
import type { SourceDependencies } from './create-source.ts';
import { getSource, sourceNotFound } from './read-source.ts';

/**
 * Changes a source (cfs-api 12). Credentials keep the name of their secret and are written first: a failure after that
 * leaves a record that is older than its credentials, and the same request again completes it.
 */
export async function patchSource(deps: SourceDependencies, name: string, patch: SourcePatch): Promise<Source> {
  const stored = await getSource(deps.db, name);
  const credentials = credentialsOf(patch);
  const secretName = stored.credentials.secret_name;
  if (credentials) await deps.secrets.putAll(secretName, { ...(await deps.secrets.get(secretName)), ...credentials });
  const record = await deps.db.transaction().execute(async (trx) => {
    const locked = await lockSource(trx, name);
    if (locked === undefined) return undefined;
    const now = deps.clock();
    const next = patched(locked, patch, wireTime(now));
    await updateSource(trx, next, now);
    return next;
  });
  if (record) return record;
  // Deleted meanwhile, its secret perhaps before ours was written.
  const ours = credentials !== null && isSourceSecret(secretName) && !(await isSecretOfSource(deps.db, secretName));
  if (ours) await deps.secrets.delete(secretName);
  throw sourceNotFound(name);
}
