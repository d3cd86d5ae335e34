/** Definitions are uploaded whole, and never change once they are stored. */
import { MusterError, musterError } from '../../domain/errors.ts';
import type { Definition } from '../../domain/propagation/definition-schema.ts';
import { PROPAGATION_MEANINGS } from '../../domain/propagation/errors.ts';
import type { ReadYaml } from '../../domain/propagation/ports.ts';
import { META_FILE } from '../../domain/propagation/read-definition.ts';
import { isDefinitionName } from '../../domain/propagation/resource-name.ts';
import { SHIPPED_REPOSITORY } from '../../domain/propagation/shipped-definitions.ts';
import {
  type DefinitionKey,
  deleteDefinition,
  holdRepository,
  insertContents,
  insertDefinition,
  listResourcesOf,
  lockDefinition,
} from '../../store/propagation/definitions.ts';
import { contentOf, type DefinitionContent } from './definition-content.ts';
import type { ModelDependencies } from './dependencies.ts';

export interface DefinitionDependencies extends ModelDependencies {
  readYaml: ReadYaml;
}

/** Text, or bytes in base64. */
export type GivenFile = string | { base64: string };

export interface PutDefinition extends DefinitionKey {
  files: Readonly<Record<string, GivenFile>>;
  /** Takes the place of other content, while no resource uses it. */
  overwrite: boolean;
}

export interface StoredDefinition extends DefinitionKey {
  hash: string;
  definition: Definition;
  /** Whether this call has stored it. */
  stored: boolean;
}

/**
 * Stores a definition. The same content again changes nothing.
 * Throws `repository_not_found`, `repository_read_only`, `definition_exists`, `invalid_spec`, `validation_failed`, `not_supported`,
 * `value_too_large`.
 */
export async function putDefinition(deps: DefinitionDependencies, put: PutDefinition): Promise<StoredDefinition> {
  const { repository, name, version } = put;
  const key = { repository, name, version };
  refuseShipped(repository);
  if (!isDefinitionName(name))
    throw musterError('invalid_spec', `${name.slice(0, 300)} cannot be the name of a definition`);
  const files = new Map(Object.entries(put.files).map(([path, file]) => [path, bytesOf(path, file)]));
  const content = contentOf(deps.readYaml, files, name);
  const { definition, hash } = content;
  if (definition.version !== version) {
    throw musterError(
      'validation_failed',
      `${META_FILE} has version ${definition.version}, and the address has ${version.slice(0, 300)}`,
      'version',
    );
  }
  const stored = await store(deps, key, { ...content, files, overwrite: put.overwrite });
  return { ...key, hash, definition, stored };
}

interface Content extends DefinitionContent {
  files: Map<string, Buffer>;
  overwrite: boolean;
}

async function store(deps: ModelDependencies, key: DefinitionKey, content: Content): Promise<boolean> {
  return deps.db.transaction().execute(async (trx) => {
    const kind = await holdRepository(trx, key.repository);
    if (kind === null) throw repositoryNotFound(key.repository);
    if (kind === 'git') throw readFromGit(key.repository);
    await insertContents(
      trx,
      new Map([...content.files].map(([path, bytes]) => [content.hashes.get(path) ?? '', bytes])),
    );
    const row = {
      ...key,
      hash: content.hash,
      definition: JSON.stringify(content.definition),
      files: JSON.stringify(Object.fromEntries(content.hashes)),
      created_at: deps.clock(),
      actor: deps.actor,
    };
    if (await insertDefinition(trx, row)) return true;
    // It is there, and stays: its repository is held, and single ones are removed under this lock.
    const known = await lockDefinition(trx, key);
    if (known?.hash === content.hash) return false;
    if (known !== null) {
      const [used] = await listResourcesOf(trx, key, 1);
      if (!content.overwrite || used !== undefined) throw definitionExists(key, used);
      await deleteDefinition(trx, key);
    }
    if (!(await insertDefinition(trx, row))) throw definitionExists(key, undefined);
    return true;
  });
}

/** Returns the refusal of content that is not that of a stored version. */
export function definitionExists({ repository, name, version }: DefinitionKey, used: string | undefined): MusterError {
  const by = used === undefined ? '' : `, and resource ${used} uses it`;
  return musterError('definition_exists', `${repository}/${name}:${version} is stored with other content${by}`);
}

/** Throws `repository_read_only` for the repository of shipped definitions. */
export function refuseShipped(repository: string): void {
  if (repository !== SHIPPED_REPOSITORY) return;
  throw musterError('repository_read_only', `Repository ${repository} has the definitions that come with Muster`);
}

function readFromGit(repository: string): MusterError {
  return musterError(
    'repository_read_only',
    `Repository ${repository} is read from git: commit the definition there, then \`./muster repository sync ${repository}\``,
  );
}

export function repositoryNotFound(name: string): MusterError {
  const { status } = PROPAGATION_MEANINGS.repository_not_found;
  const text = `There is no repository ${name.slice(0, 300)}`;
  return new MusterError('repository_not_found', text, undefined, undefined, status);
}

function bytesOf(path: string, file: GivenFile): Buffer {
  if (typeof file === 'string') return Buffer.from(file, 'utf8');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(file.base64) || file.base64.length % 4 !== 0) {
    throw musterError('validation_failed', `The file ${path.slice(0, 300)} is not in base64`, 'files');
  }
  return Buffer.from(file.base64, 'base64');
}
