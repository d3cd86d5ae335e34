/** The definition that a spec string means. */
import { musterError } from '../../domain/errors.ts';
import type { Definition } from '../../domain/propagation/definition-schema.ts';
import { canonicalText } from '../../domain/propagation/freeze.ts';
import { SHIPPED_DEFINITIONS, SHIPPED_REPOSITORY } from '../../domain/propagation/shipped-definitions.ts';
import { type DefinitionSpec, highestVersion, LOOKED_UP, parseSpec } from '../../domain/propagation/version-spec.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  type DefinitionKey,
  findRepository,
  holdDefinition,
  listDefinitions,
} from '../../store/propagation/definitions.ts';
import { sha256 } from './definition-content.ts';
import { repositoryNotFound } from './put-definition.ts';

export interface FoundDefinition extends DefinitionKey {
  hash: string;
  definition: Definition;
}

/**
 * Returns the definition that a spec means, which stays as it is until the transaction ends.
 * Throws `invalid_spec`, `repository_not_found`, `definition_not_found`.
 */
export async function holdSpec(trx: Db, text: string): Promise<FoundDefinition> {
  const spec = parseSpec(text);
  if (spec.repository !== null && spec.repository !== SHIPPED_REPOSITORY) {
    if ((await findRepository(trx, spec.repository)) === null) throw repositoryNotFound(spec.repository);
  }
  for (const repository of spec.repository === null ? LOOKED_UP : [spec.repository]) {
    const found = repository === SHIPPED_REPOSITORY ? shipped(spec) : await stored(trx, repository, spec);
    if (found !== null) return found;
  }
  throw musterError('definition_not_found', `There is no definition ${text.slice(0, 300)}`);
}

function shipped({ name, version }: DefinitionSpec): FoundDefinition | null {
  const definition = SHIPPED_DEFINITIONS.get(name);
  if (definition === undefined || highestVersion([definition.version], version) === null) return null;
  return shippedDefinition(name, definition);
}

/** Returns a shipped definition with the hash of its content. */
export function shippedDefinition(name: string, definition: Definition): FoundDefinition {
  const key = { repository: SHIPPED_REPOSITORY, name, version: definition.version };
  return { ...key, hash: sha256(canonicalText(definition)), definition };
}

async function stored(trx: Db, repository: string, spec: DefinitionSpec): Promise<FoundDefinition | null> {
  const versions = (await listDefinitions(trx, repository, spec.name)).map(({ version }) => version);
  const version = highestVersion(versions, spec.version);
  if (version === null) return null;
  const key = { repository, name: spec.name, version };
  const row = await holdDefinition(trx, key);
  return row === null ? null : { ...key, hash: row.hash, definition: row.definition };
}
