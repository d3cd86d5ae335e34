import type { Source } from '../../domain/configurations/schema.ts';
import { isSourceSecret } from '../../domain/configurations/source-rules.ts';
import { musterError } from '../../domain/errors.ts';
import {
  deleteSource as deleteRecord,
  insertSource,
  isSecretOfSource,
  isSourceInUse,
  lockSource,
} from '../../store/sources.ts';
import type { SourceDependencies } from './create-source.ts';
import { sourceNotFound } from './read-source.ts';

const ATTEMPTS = 3;

/**
 * Deletes a source that nothing names, and the secret that was made for it. Being in use is checked before existence
 * (cfs-api 12), in one transaction with the removal. When the secret cannot be removed the record comes back, so that
 * credentials are never left behind without a trace.
 */
export async function deleteSource(deps: SourceDependencies, name: string): Promise<void> {
  const removed = await deps.db.transaction().execute(async (trx) => {
    const source = await lockSource(trx, name);
    if (await isSourceInUse(trx, name)) {
      throw musterError('source_in_use', `Source ${name} is referenced by some configurations`);
    }
    if (source === undefined) throw sourceNotFound(name);
    await deleteRecord(trx, name);
    return source;
  });
  const secretName = removed.credentials.secret_name;
  if (!isSourceSecret(secretName) || (await isSecretOfSource(deps.db, secretName))) return;
  await removeSecret(deps, removed);
}

async function removeSecret(deps: SourceDependencies, source: Source): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await deps.secrets.delete(source.credentials.secret_name);
    } catch (error) {
      if (attempt < ATTEMPTS) continue;
      await insertSource(deps.db, source, deps.clock());
      throw error;
    }
  }
}
