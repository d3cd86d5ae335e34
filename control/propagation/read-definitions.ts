/** Repositories and definitions as they are shown; those that come with Muster are among them. */
import { maskAddress } from '../../domain/configurations/address-secrets.ts';
import type { Definition } from '../../domain/propagation/definition-schema.ts';
import type { DefinitionView, RepositoryView } from '../../domain/propagation/schema.ts';
import { SHIPPED_DEFINITIONS, SHIPPED_REPOSITORY } from '../../domain/propagation/shipped-definitions.ts';
import { compareVersions } from '../../domain/propagation/version-spec.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  type DefinitionKey,
  findDefinition,
  findRepository,
  listDefinitions,
  listRepositories,
  type RepositoryRow,
} from '../../store/propagation/definitions.ts';
import { onePage, type Page } from '../changes/pages.ts';
import { definitionNotFound } from './create-repository.ts';
import { shippedDefinition } from './find-definition.ts';
import { repositoryNotFound } from './put-definition.ts';

const SHIPPED: RepositoryView = { name: SHIPPED_REPOSITORY, kind: 'shipped', state: 'ready', created_at: null };

/** Returns a page of repositories by name. */
export async function pageOfRepositories(db: Db, after: string, limit: number): Promise<Page<RepositoryView>> {
  return onePage(limit, async (rows) => {
    const stored = (await listRepositories(db, after, rows)).map(viewOfRepository);
    const all = SHIPPED_REPOSITORY > after ? [...stored, SHIPPED] : stored;
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}

export function viewOfRepository(row: RepositoryRow): RepositoryView {
  const { name, kind, state, created_at } = row;
  const view = { name, kind, state, created_at: created_at.toISOString() };
  if (kind !== 'git') return view;
  const { url, ref, path, source, commit_id: commit, code, reason, synced_at } = row;
  const origin = { url: maskAddress(url ?? ''), ref, path: path ?? '', source };
  return { ...view, ...origin, commit, synced_at: synced_at?.toISOString() ?? null, code, reason };
}

/**
 * Returns a repository with the versions of its definitions, lowest first.
 * Throws `repository_not_found`.
 */
export async function getRepository(db: Db, name: string): Promise<RepositoryView> {
  if (name === SHIPPED_REPOSITORY) {
    const definitions = [...SHIPPED_DEFINITIONS].map(
      ([definition, { version }]) => [definition, [version]] as [string, string[]],
    );
    return { ...SHIPPED, definitions: Object.fromEntries(definitions) };
  }
  const row = await findRepository(db, name);
  if (row === null) throw repositoryNotFound(name);
  const versions = new Map<string, string[]>();
  for (const { name: definition, version } of await listDefinitions(db, name)) {
    versions.set(definition, [...(versions.get(definition) ?? []), version]);
  }
  for (const list of versions.values()) list.sort(compareVersions);
  return { ...viewOfRepository(row), definitions: Object.fromEntries(versions) };
}

/**
 * Returns one version of a definition.
 * Throws `definition_not_found`.
 */
export async function getDefinition(db: Db, key: DefinitionKey): Promise<DefinitionView> {
  if (key.repository === SHIPPED_REPOSITORY) {
    const definition = SHIPPED_DEFINITIONS.get(key.name);
    if (definition?.version !== key.version) throw definitionNotFound(key);
    const { hash } = shippedDefinition(key.name, definition);
    return viewOfDefinition({ ...key, hash, definition, files: [] });
  }
  const row = await findDefinition(db, key);
  if (row === null) throw definitionNotFound(key);
  return viewOfDefinition({ ...key, hash: row.hash, definition: row.definition, files: Object.keys(row.files) });
}

function viewOfDefinition(
  shown: DefinitionKey & { hash: string; definition: Definition; files: readonly string[] },
): DefinitionView {
  const { repository, name, version, hash, definition, files } = shown;
  const { handler, actions, inputs, tags, type_limit } = definition;
  return { repository, name, version, hash, handler, actions, inputs, tags, type_limit, files: [...files].sort() };
}
