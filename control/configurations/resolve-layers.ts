import { layerMistake, layerSecret, withoutEmpty } from '../../domain/configurations/layer-rules.ts';
import type { ResolvedLayer } from '../../domain/configurations/resolve-schema.ts';
import type { Layer } from '../../domain/configurations/schema.ts';
import { isMusterError, type MusterError } from '../../domain/errors.ts';
import { findSources } from '../../store/configurations/sources.ts';
import { atOnce } from '../changes/at-once.ts';
import { type ResolveDependencies, resolutionDeadline, resolveBranches } from './resolve-branches.ts';

/** Remotes asked at once. */
const PARALLEL = 8;

/**
 * Returns for each layer the commit that it would have, or why it would be refused; nothing is stored. A layer with a problem keeps none
 * of the others from its answer. Throws what is no problem of a layer, such as `secret_store_unavailable`.
 */
export async function resolveLayers(deps: ResolveDependencies, layers: readonly Layer[]): Promise<ResolvedLayer[]> {
  const deadline = resolutionDeadline();
  const known = await findSources(deps.db, [...new Set(layers.flatMap(({ source }) => source || []))]);
  const resolved = new Map<string, Promise<ResolvedLayer>>();
  const resolve = (layer: Layer): Promise<ResolvedLayer> => {
    // Layers of one branch ask its remote once.
    const key = JSON.stringify([layer.source, layer.clone_url, layer.branch, layer.commit]);
    const asked = resolved.get(key) ?? resolveOne(deps, layer, deadline);
    resolved.set(key, asked);
    return asked;
  };
  const answers: ResolvedLayer[] = [];
  await atOnce(PARALLEL, [...layers.entries()], async ([index, given]) => {
    const path = `layers.${index}`;
    const mistake = layerSecret({ layers: [given] }) ?? layerMistake({ layer: given, path }, new Set(known.keys()));
    answers[index] = mistake === null ? await resolve(withoutEmpty(given)) : problemOf(mistake);
  });
  return answers;
}

async function resolveOne(deps: ResolveDependencies, layer: Layer, deadline: AbortSignal): Promise<ResolvedLayer> {
  try {
    const { layers } = await resolveBranches(deps, { layers: [layer] }, deadline);
    return { commit: layers[0]?.commit ?? null, problem: null };
  } catch (error) {
    if (isMusterError(error) && OF_LAYERS.has(error.code)) return problemOf(error);
    throw error;
  }
}

/** What is the matter with a layer, not with Muster. */
const OF_LAYERS: ReadonlySet<string> = new Set(['branch_not_resolved', 'source_unknown']);

const problemOf = ({ code, detail }: MusterError): ResolvedLayer => ({ commit: null, problem: { code, detail } });
