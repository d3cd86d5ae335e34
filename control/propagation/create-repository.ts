/** Repositories of definitions. */
import { foundSource } from '../../domain/configurations/layer-rules.ts';
import type { Source } from '../../domain/configurations/schema.ts';
import { isSameServer } from '../../domain/configurations/vcs-hosts.ts';
import { type MusterError, musterError } from '../../domain/errors.ts';
import { type GitOrigin, type GivenOrigin, gitOrigin } from '../../domain/propagation/git-repository.ts';
import { isDefinitionName } from '../../domain/propagation/resource-name.ts';
import { SHIPPED_REPOSITORY } from '../../domain/propagation/shipped-definitions.ts';
import { isVersion } from '../../domain/propagation/version-spec.ts';
import { findSource } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  type DefinitionKey,
  deleteDefinition,
  deleteRepository,
  insertRepository,
  listResourcesOf,
  lockDefinition,
  type RepositoryInsert,
  type RepositoryRow,
} from '../../store/propagation/definitions.ts';
import { lockModel } from '../../store/propagation/model-lock.ts';
import { holdKnownSources } from '../configurations/hold-known-sources.ts';
import type { ModelDependencies } from './dependencies.ts';
import { refuseShipped, repositoryNotFound } from './put-definition.ts';
import { type SyncDependencies, wantedSync } from './sync-repository.ts';

/**
 * Makes a repository that definitions are put into.
 * Throws `repository_exists`, `validation_failed`.
 */
export async function createRepository(deps: ModelDependencies, { name }: { name: string }): Promise<RepositoryRow> {
  const nothing = { url: null, ref: null, path: null, source: null };
  return insert(deps.db, deps, name, { kind: 'uploaded', state: 'ready', ...nothing });
}

export interface NewRepository extends GivenOrigin {
  name: string;
}

export interface AddRepositoryDependencies extends SyncDependencies {
  /** Schemes that addresses of repositories may have. */
  repositorySchemes: readonly string[];
}

/**
 * Makes a repository; a repository with a `url` is read from git, and is being read from then on.
 * Throws `repository_exists`, `validation_failed`, `repository_url_refused`, `password_in_address`, `source_unknown`.
 */
export async function addRepository(deps: AddRepositoryDependencies, given: NewRepository): Promise<RepositoryRow> {
  const origin = gitOrigin(given, deps.repositorySchemes);
  if (origin === null) return createRepository(deps, given);
  const { source } = origin;
  const row = await deps.db.transaction().execute(async (trx) => {
    if (source !== null) {
      // It cannot be deleted before the repository that names it is on record.
      await holdKnownSources(trx, [source]);
      refuseOtherServer(foundSource(source, await findSource(trx, source)), origin);
    }
    return insert(trx, deps, given.name, { kind: 'git', state: 'syncing', sync_wanted: 1, ...origin });
  });
  await deps.tell([wantedSync(row.id)]);
  return row;
}

/** Credentials of a source go to its own server alone, so a source of another server would be of no use. */
function refuseOtherServer({ name, clone_url }: Source, { url }: GitOrigin): void {
  if (isSameServer(clone_url, url)) return;
  const detail = `Source ${name} is of another server than the url: its credentials do not go there`;
  throw musterError('validation_failed', detail, 'source');
}

type Origin = Pick<RepositoryInsert, 'kind' | 'state' | 'sync_wanted' | 'url' | 'ref' | 'path' | 'source'>;

async function insert(
  db: Db,
  { clock, actor }: ModelDependencies,
  name: string,
  origin: Origin,
): Promise<RepositoryRow> {
  if (!isDefinitionName(name)) {
    throw musterError(
      'validation_failed',
      `${JSON.stringify(name.slice(0, 300))} cannot be the name of a repository`,
      'name',
    );
  }
  const now = clock();
  const written = { name, ...origin, commit_id: null, reason: null, created_at: now, updated_at: now, actor };
  const row = name === SHIPPED_REPOSITORY ? null : await insertRepository(db, written);
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
