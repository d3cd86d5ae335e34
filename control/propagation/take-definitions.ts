/** The definitions of a commit, taken in: all of them or none. */
import { musterError } from '../../domain/errors.ts';
import {
  definitionNameOf,
  type FolderMistake,
  joinMistakes,
  LARGEST_COMMIT,
  mistakeOf,
} from '../../domain/propagation/git-repository.ts';
import type { FoundFolders, ReadYaml } from '../../domain/propagation/ports.ts';
import { isDefinitionName } from '../../domain/propagation/resource-name.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  insertContents,
  insertDefinition,
  listDefinitions,
  listResourcesOf,
  type RepositoryRow,
} from '../../store/propagation/definitions.ts';
import { endSync, lockRepositoryOfId } from '../../store/propagation/repository-syncs.ts';
import { contentOf, sha256 } from './definition-content.ts';
import { definitionExists } from './put-definition.ts';

export interface TakeDependencies {
  db: Db;
  clock(): Date;
  readYaml: ReadYaml;
}

/** A sync of a repository that has come to a commit. */
export interface Taken {
  repository: Pick<RepositoryRow, 'id' | 'name' | 'path'>;
  sync: number;
  commit: string;
  found: FoundFolders;
}

/** What is kept of a definition until it is stored: a commit may have very many files. */
interface Candidate {
  folder: string;
  name: string;
  version: string;
  hash: string;
}

/**
 * Stores the versions that are new and leaves stored versions as they are, also those that the commit has no more. Returns what is stored
 * anew; null where the sync has ended, or the repository is gone, meanwhile.
 * Throws the mistakes of all definitions as one: `definition_exists` where a stored version has other content, `definition_not_found`
 * for a commit without definitions, and whatever an upload is refused with.
 */
export async function takeDefinitions(deps: TakeDependencies, taken: Taken): Promise<string[] | null> {
  const candidates = await readAll(deps, taken);
  const { repository, sync, commit, found } = taken;
  return deps.db.transaction().execute(async (trx) => {
    const row = await lockRepositoryOfId(trx, repository.id);
    if (row === null || row.sync_done >= sync) return null;
    const fresh = await withoutKnown(trx, row.name, candidates);
    for (const { folder, name } of fresh) {
      // Read again, so that a single definition is in memory at a time.
      const files = await found.read(folder);
      const { definition, hash, hashes } = contentOf(deps.readYaml, files, name);
      await insertContents(trx, new Map([...files.values()].map((bytes) => [sha256(bytes), Buffer.from(bytes)])));
      await insertDefinition(trx, {
        ...{ repository: row.name, name, version: definition.version, hash },
        definition: JSON.stringify(definition),
        files: JSON.stringify(Object.fromEntries(hashes)),
        created_at: deps.clock(),
        actor: row.actor,
      });
    }
    await endSync(trx, repository.id, sync, { commit }, deps.clock());
    return fresh.map(({ name, version }) => `${name}:${version}`);
  });
}

async function readAll({ readYaml }: TakeDependencies, { repository, commit, found }: Taken): Promise<Candidate[]> {
  const above = [repository.name, ...(repository.path ?? '').split('/')];
  const candidates: Candidate[] = [];
  const places = new Map<string, string>();
  const mistakes: FolderMistake[] = [];
  let bytes = 0;
  for (const folder of found.folders) {
    const mistake = await mistakeOf(folder, async () => {
      const name = definitionNameOf([...above, ...folder.split('/')]);
      if (!isDefinitionName(name)) {
        throw musterError('invalid_spec', `${name.slice(0, 300)} cannot be the name of a definition`);
      }
      const files = await found.read(folder);
      for (const { length } of files.values()) bytes += length;
      const { hash, definition } = contentOf(readYaml, files, name);
      const { version } = definition;
      const key = `${name}:${version}`;
      const other = places.get(key);
      if (other !== undefined) throw musterError('validation_failed', `${key} is in the folder ${other} as well`);
      places.set(key, folder);
      candidates.push({ folder, name, version, hash });
    });
    if (bytes > LARGEST_COMMIT) {
      throw musterError('value_too_large', `The definitions of the commit have more than ${LARGEST_COMMIT} bytes`);
    }
    if (mistake !== null) mistakes.push(mistake);
  }
  const mistake = joinMistakes(mistakes);
  if (mistake !== null) throw mistake;
  if (candidates.length === 0) {
    const where = repository.path ? ` below ${repository.path}` : '';
    throw musterError('definition_not_found', `Commit ${commit} has no folder with a meta.yaml${where}`);
  }
  return candidates;
}

/** Those whose version is not stored. Throws where a stored version has other content. */
async function withoutKnown(trx: Db, repository: string, candidates: readonly Candidate[]): Promise<Candidate[]> {
  const known = new Map<string, string>();
  for (const { name, version, hash } of await listDefinitions(trx, repository)) known.set(`${name}:${version}`, hash);
  const mistakes: FolderMistake[] = [];
  const fresh: Candidate[] = [];
  for (const candidate of candidates) {
    const { folder, name, version, hash } = candidate;
    const key = { repository, name, version };
    const stored = known.get(`${name}:${version}`);
    if (stored === undefined) fresh.push(candidate);
    else if (stored !== hash) {
      const [used] = await listResourcesOf(trx, key, 1);
      const { code, detail } = definitionExists(key, used);
      mistakes.push({ folder, error: musterError(code, `${detail}: give it another version`) });
    }
  }
  const mistake = joinMistakes(mistakes);
  if (mistake !== null) throw mistake;
  return fresh;
}
