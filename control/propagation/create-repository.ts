/** Repositories of definitions. */
import { type MusterError, musterError } from '../../domain/errors.ts';
import { isDefinitionName } from '../../domain/propagation/resource-name.ts';
import { SHIPPED_REPOSITORY } from '../../domain/propagation/shipped-definitions.ts';
import { isVersion } from '../../domain/propagation/version-spec.ts';
import {
  type DefinitionKey,
  deleteDefinition,
  deleteRepository,
  insertRepository,
  listResourcesOf,
  lockDefinition,
  type RepositoryRow,
} from '../../store/propagation/definitions.ts';
import { lockModel } from '../../store/propagation/model-lock.ts';
import type { ModelDependencies } from './dependencies.ts';
import { refuseShipped, repositoryNotFound } from './put-definition.ts';

export interface NewRepository {
  name: string;
  /** Address of a git repository. */
  url?: string | undefined;
}

/**
 * Makes a repository that definitions are put into.
 * Throws `repository_exists`, `validation_failed`, `not_supported`.
 */
export async function createRepository(deps: ModelDependencies, { name, url }: NewRepository): Promise<RepositoryRow> {
  if (url !== undefined) {
    throw musterError('not_supported', 'A repository that is read from git (url) is not supported', 'url');
  }
  if (!isDefinitionName(name)) {
    throw musterError(
      'validation_failed',
      `${JSON.stringify(name.slice(0, 300))} cannot be the name of a repository`,
      'name',
    );
  }
  const now = deps.clock();
  const stated = { kind: 'uploaded', state: 'ready', created_at: now, updated_at: now, actor: deps.actor } as const;
  const nothing = { url: null, ref: null, path: null, source: null, commit_id: null, reason: null };
  const row = name === SHIPPED_REPOSITORY ? null : await insertRepository(deps.db, { name, ...stated, ...nothing });
  if (row === null) throw musterError('repository_exists', `A repository with the name ${name} already exists`);
  return row;
}

/**
 * Removes a repository with all of its definitions.
 * Throws `repository_not_found`, `repository_in_use`, `repository_read_only`.
 */
export async function removeRepository(deps: ModelDependencies, name: string): Promise<void> {
  refuseShipped(name);
  await deps.db.transaction().execute(async (trx) => {
    // No resource is made of it meanwhile.
    await lockModel(trx);
    const [used] = await listResourcesOf(trx, { repository: name }, 1);
    if (used !== undefined) throw inUse(`Repository ${name}`, used);
    if (!(await deleteRepository(trx, name))) throw repositoryNotFound(name);
  });
}

/**
 * Removes one version of a definition.
 * Throws `definition_not_found`, `repository_in_use`, `repository_read_only`, `invalid_spec`.
 */
export async function removeDefinition(deps: ModelDependencies, key: DefinitionKey): Promise<void> {
  refuseShipped(key.repository);
  if (!isVersion(key.version)) throw musterError('invalid_spec', `${key.version.slice(0, 300)} is no version`);
  await deps.db.transaction().execute(async (trx) => {
    if ((await lockDefinition(trx, key)) === null) throw definitionNotFound(key);
    const [used] = await listResourcesOf(trx, key, 1);
    if (used !== undefined) throw inUse(`${key.repository}/${key.name}:${key.version}`, used);
    await deleteDefinition(trx, key);
  });
}

function inUse(what: string, resource: string): MusterError {
  return musterError('repository_in_use', `${what} is used by resource ${resource}`);
}

export function definitionNotFound({ repository, name, version }: DefinitionKey): MusterError {
  return musterError('definition_not_found', `There is no ${repository}/${name}:${version}`.slice(0, 600));
}
