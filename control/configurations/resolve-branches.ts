import { foundSource, layersOf } from '../../domain/configurations/layer-rules.ts';
import type { GitReferences, ReadRepositoryAccess, RepositoryAccess } from '../../domain/configurations/ports.ts';
import type { AdditionalInventory, Layer, Source } from '../../domain/configurations/schema.ts';
import { ERRORS, isMusterError, musterError } from '../../domain/errors.ts';
import { findSources } from '../../store/configurations/sources.ts';
import type { Db } from '../../store/connection/database.ts';
import { atOnce } from '../changes/at-once.ts';

export interface ResolveDependencies {
  db: Db;
  git: GitReferences;
  repositoryAccess: ReadRepositoryAccess;
}

interface Repositories {
  layers: Layer[];
  additional_inventory?: AdditionalInventory | undefined;
}

/** One branch of one repository, however many layers name it, and the first of them. */
interface Question {
  source: Source | null;
  url: string;
  ref: string;
  path: string;
}

/** Remotes asked at once for one configuration. */
const PARALLEL = 8;
/** For all branches of a request together, ms (cfs-api 15.15). */
const TIMEOUT = 30_000;

/** Aborts when the time for all branches of one request is over. */
export function resolutionDeadline(): AbortSignal {
  return AbortSignal.timeout(TIMEOUT);
}

/**
 * The layers with the head commit of every `branch` written into `commit`; asks the remotes, so it belongs outside every
 * transaction. Each remote is asked once for each branch. One that cannot be resolved, or not before `deadline`, is
 * `branch_not_resolved` with git's failure, and nothing has changed.
 */
export async function resolveBranches(
  deps: ResolveDependencies,
  body: Repositories,
  deadline: AbortSignal,
): Promise<Repositories> {
  const open = layersOf(body).filter(({ layer }) => layer.branch);
  const sources = await findSources(deps.db, [...new Set(open.flatMap(({ layer }) => layer.source ?? []))]);
  const questions = new Map<string, Question>();
  for (const { layer, path } of open) {
    const source = layer.source === undefined ? null : foundSource(layer.source, sources.get(layer.source));
    const url = source?.clone_url ?? layer.clone_url ?? '';
    if (!questions.has(keyOf(layer))) questions.set(keyOf(layer), { source, url, ref: layer.branch ?? '', path });
  }
  const commits = await askAll(deps, questions, deadline);
  const resolved = <T extends AdditionalInventory>(layer: T): T => {
    const commit = layer.branch ? commits.get(keyOf(layer)) : undefined;
    return commit === undefined ? layer : { ...layer, commit };
  };
  return {
    layers: body.layers.map(resolved),
    ...(body.additional_inventory ? { additional_inventory: resolved(body.additional_inventory) } : {}),
  };
}

function keyOf({ source, clone_url, branch }: AdditionalInventory): string {
  return JSON.stringify([source ?? null, clone_url ?? null, branch]);
}

async function askAll(
  deps: ResolveDependencies,
  questions: ReadonlyMap<string, Question>,
  deadline: AbortSignal,
): Promise<Map<string, string>> {
  const commits = new Map<string, string>();
  const accesses = new Map<string, Promise<RepositoryAccess>>();
  const accessOf = (source: Source | null, url: string): Promise<RepositoryAccess> => {
    const key = JSON.stringify([source?.name ?? null, url]);
    const known = accesses.get(key) ?? deps.repositoryAccess(source, url);
    accesses.set(key, known);
    return known;
  };
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, deadline]);
  const ask = async ([key, { source, url, ref, path }]: [string, Question]): Promise<void> => {
    try {
      const request = { ...(await accessOf(source, url)), url, sourceName: source?.name ?? null, ref, signal };
      commits.set(key, await deps.git.resolveRef(request));
    } catch (error) {
      throw translated(error, ref, path, deadline);
    }
  };
  try {
    await atOnce(PARALLEL, [...questions], ask);
  } catch (error) {
    failed.abort();
    throw error;
  }
  return commits;
}

/** What a remote says is the request's business; what our own storage says is not. */
function translated(error: unknown, ref: string, path: string, deadline: AbortSignal): unknown {
  const refusal = (detail: string) => musterError('branch_not_resolved', `${ref}: ${detail}`, `${path}.branch`);
  if (deadline.aborted) return refusal(`the remotes did not answer within ${TIMEOUT / 1000} s`);
  return isMusterError(error) && ERRORS[error.code].status !== 503 ? refusal(error.detail) : error;
}
