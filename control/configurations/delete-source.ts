import { musterError } from '../../domain/errors.ts';
import { deleteSource as deleteRecord, isSourceInUse, lockSource } from '../../store/configurations/sources.ts';
import type { SourceDependencies } from './create-source.ts';
import { sourceNotFound } from './read-source.ts';
import { beginChange, settleChange } from './source-secrets.ts';

/**
 * Deletes a source that nothing names, and the secret that was made for it. Being in use is checked before existence
 * (cfs-api 12), in one transaction with the removal. That the secret is to go is noted in the same transaction, so it goes
 * even when the secret store is away just now.
 */
export async function deleteSource(deps: Omit<SourceDependencies, 'clock'>, name: string): Promise<void> {
  const change = await deps.db.transaction().execute(async (trx) => {
    const source = await lockSource(trx, name);
    if (await isSourceInUse(trx, name)) {
      throw musterError('source_in_use', `Source ${name} is referenced by some configurations`);
    }
    if (source === undefined) throw sourceNotFound(name);
    await deleteRecord(trx, name);
    return beginChange(trx, source.credentials.secret_name);
  });
  await settleChange(deps, change);
}
