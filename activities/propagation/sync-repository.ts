import { type TakeDependencies, takeDefinitions } from '../../control/propagation/take-definitions.ts';
import { labelled } from '../../domain/labelled.ts';
import type { SyncRef } from '../../domain/propagation/activity-schema.ts';
import type { DefinitionCheckouts, DefinitionGit } from '../../domain/propagation/ports.ts';
import type { SiteValues } from '../../domain/sessions/ports.ts';
import type { RepositoryRow } from '../../store/propagation/definitions.ts';
import { findRepositoryOfId } from '../../store/propagation/repository-syncs.ts';
import { sourceOf } from '../sessions/source-of.ts';

export interface SyncRepositoryDependencies extends TakeDependencies {
  git: DefinitionGit;
  checkouts: DefinitionCheckouts;
  /** Sources, and the credentials and certificates for an address, by the rules of sessions. */
  site: Pick<SiteValues, 'source' | 'repositoryAccess'>;
  log: { info(fields: object, message: string): void };
}

/**
 * Resolves the branch of a repository, clones that commit for a moment and takes its definitions in. Repeating it is harmless. Returns the
 * commit; null where the sync is over already or the repository is gone.
 * Throws what git refuses, and the mistakes of the definitions.
 */
export async function syncRepository(
  deps: SyncRepositoryDependencies,
  { repository: id, sync }: SyncRef,
  signal: AbortSignal,
): Promise<string | null> {
  const repository = await findRepositoryOfId(deps.db, id);
  if (repository === null || repository.sync_done >= sync) return null;
  const remote = await remoteOf(deps, repository, signal);
  const { ref } = repository;
  const commit = ref === null ? await deps.git.resolveHead(remote) : await deps.git.resolveRef({ ...remote, ref });
  const { checkouts } = deps;
  const stored = await checkouts.within(async (dest) => {
    const { removedLinks } = await deps.git.clone({ ...remote, commit, dest });
    return labelled(`commit ${commit.slice(0, 12)}`, async () => {
      const found = await checkouts.find({ dir: dest, path: repository.path ?? '', removedLinks });
      signal.throwIfAborted();
      return takeDefinitions(deps, { repository, sync, commit, found });
    });
  });
  if (stored === null) return null;
  deps.log.info({ repository: repository.name, commit, stored }, 'a repository of definitions was read');
  return commit;
}

/** How the repository is reached now: its source may have other credentials than at the last sync. */
async function remoteOf({ site }: SyncRepositoryDependencies, row: RepositoryRow, signal: AbortSignal) {
  const url = row.url ?? '';
  const source = await sourceOf(site, row);
  const accessOf = (address: string) => site.repositoryAccess(source, address);
  return { ...(await accessOf(url)), url, sourceName: row.source, accessOf, signal };
}
