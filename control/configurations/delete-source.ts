import { musterError } from '../../domain/errors.ts';
import { deleteSource as deleteRecord, isSourceInUse, lockSource } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import type { SourceDependencies } from './create-source.ts';
import { sourceNotFound } from './read-source.ts';
import { beginChange, settleChange } from './source-secrets.ts';

/** Returns what of an upper lane names a source, null for nothing; asked in the transaction that holds the source. */
export type SourceUser = (trx: Db, source: string) => Promise<string | null>;

/**
 * Deletes a source that nothing names, and the secret that was made for it. Being in use is checked before existence
 * (cfs-api 12), in one transaction with the removal. That the secret is to go is noted in the same transaction, so it goes
 * even when the secret store is away just now.
 */
export async function deleteSource(
  deps: Omit<SourceDependencies, 'clock'>,
  name: string,
  sourceUsers: readonly SourceUser[] = [],
): Promise<void> {
  const change = await deps.db.transaction().execute(async (trx) => {
    const source = await lockSource(trx, name);
    if (await isSourceInUse(trx, name)) {
      throw musterError('source_in_use', `Source ${name} is referenced by some configurations`);
    }
    for (const userOf of sourceUsers) {
      const user = await userOf(trx, name);
      if (user !== null) throw musterError('source_in_use', `Source ${name} is used by ${user}`);
    }
    if (source === undefined) throw sourceNotFound(name);
    await deleteRecord(trx, name);
    return beginChange(trx, source.credentials.secret_name);
  });
  await settleChange(deps, change);
}
