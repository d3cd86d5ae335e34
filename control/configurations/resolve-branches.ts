import { layersOf, sourceUnknown } from '../../domain/configurations/layer-rules.ts';
import type { AdditionalInventory, Layer, Source } from '../../domain/configurations/schema.ts';
import { isMusterError, musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/database.ts';
import { findSources } from '../../store/sources.ts';
import type { GitReferences, ReadRepositoryAccess } from './ports.ts';

export interface ResolveDependencies {
  db: Db;
  git: GitReferences;
  repositoryAccess: ReadRepositoryAccess;
}

interface Repositories {
  layers: Layer[];
  additional_inventory?: AdditionalInventory | undefined;
}

/** Remotes asked at once for one configuration. */
const PARALLEL = 8;
/** For one remote, ms (cfs-api 15, 15). */
const TIMEOUT = 30_000;

/**
 * The layers with the head commit of every `branch` written into `commit`; asks the remotes, so it belongs outside every
 * transaction. One that cannot be resolved is `branch_not_resolved` with git's failure, and nothing has changed.
 */
export async function resolveBranches(deps: ResolveDependencies, body: Repositories): Promise<Repositories> {
  const open = layersOf(body).filter(({ layer }) => layer.branch);
  const names = open.flatMap(({ layer }) => layer.source ?? []);
  const sources = await findSources(deps.db, names);
  const commits = new Map<AdditionalInventory, string>();
  const abort = new AbortController();
  const queue = open.values();
  const resolveNext = async (): Promise<void> => {
    for (const { layer, path } of queue) {
      commits.set(layer, await resolveBranch(deps, layer, path, sources, abort.signal));
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(PARALLEL, open.length) }, resolveNext));
  } catch (error) {
    abort.abort();
    throw error;
  }
  const resolved = <T extends AdditionalInventory>(layer: T): T => {
    const commit = commits.get(layer);
    return commit === undefined ? layer : { ...layer, commit };
  };
  return {
    layers: body.layers.map(resolved),
    ...(body.additional_inventory ? { additional_inventory: resolved(body.additional_inventory) } : {}),
  };
}

async function resolveBranch(
  deps: ResolveDependencies,
  layer: AdditionalInventory,
  path: string,
  sources: ReadonlyMap<string, Source>,
  signal: AbortSignal,
): Promise<string> {
  const source = layer.source === undefined ? null : sources.get(layer.source);
  if (source === undefined) throw sourceUnknown(layer.source ?? '');
  const url = source?.clone_url ?? layer.clone_url ?? '';
  try {
    const access = await deps.repositoryAccess(source);
    const request = { ...access, url, sourceName: source?.name ?? null, ref: layer.branch ?? '', signal };
    return await deps.git.resolveRef({ ...request, timeoutMs: TIMEOUT });
  } catch (error) {
    if (!isMusterError(error)) throw error;
    throw musterError('branch_not_resolved', `${layer.branch}: ${error.detail}`, `${path}.branch`);
  }
}
