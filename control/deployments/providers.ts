/** Cluster providers: names under which clusters are registered. */
import type { Acting } from '../../domain/access/acting.ts';
import type { PlainRecord } from '../../domain/deployments/schema.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  deleteProvider,
  findProvider,
  holdProvider,
  insertProvider,
  isProviderUsed,
  listProviders,
} from '../../store/deployments/providers.ts';

export interface ProviderDependencies {
  db: Db;
  clock(): Date;
}

/** Makes a provider. Throws `already_exists`. */
export async function putProvider(
  deps: ProviderDependencies,
  by: Acting,
  { metadata }: PlainRecord,
): Promise<PlainRecord> {
  const written = { actor: by.actor, operation: by.operation ?? null, now: deps.clock() };
  if (await insertProvider(deps.db, metadata, written)) return { metadata };
  throw musterError('already_exists', `Cluster provider '${metadata.name}' exists already`);
}

/** Returns a provider. Throws `not_found`. */
export async function getProvider({ db }: Pick<ProviderDependencies, 'db'>, name: string): Promise<PlainRecord> {
  const metadata = await findProvider(db, name);
  if (metadata === null) throw providerNotFound(name);
  return { metadata };
}

/** Returns all providers by name. */
export async function allProviders({ db }: Pick<ProviderDependencies, 'db'>): Promise<PlainRecord[]> {
  return (await listProviders(db)).map((metadata) => ({ metadata }));
}

/** Removes a provider. Throws `not_found`, and `has_children` while it has clusters. */
export async function removeProvider({ db }: Pick<ProviderDependencies, 'db'>, name: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await holdProvider(trx, name, 'update'))) throw providerNotFound(name);
    if (await isProviderUsed(trx, name)) {
      throw musterError('has_children', `Cluster provider '${name}' has clusters: delete them first`);
    }
    await deleteProvider(trx, name);
  });
}

export function providerNotFound(name: string) {
  return musterError('not_found', `Cluster provider '${name}' could not be found`);
}
