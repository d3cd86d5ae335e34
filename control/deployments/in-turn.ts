/** Does the resources of a group in order; where their app says what they wait for, also beside each other. */
import type { Phase } from '../../domain/deployments/context-state.ts';
import { reversed, type Waits } from '../../domain/deployments/dependencies.ts';
import { membersOf } from '../../domain/deployments/members.ts';
import { resourceWaits, WAIT_ANNOTATION } from '../../domain/deployments/resource-waits.ts';

interface Waiting {
  key: string;
  /** JSON. */
  manifest: string;
}

export interface Order {
  /** Resources that are done at once. */
  most: number;
  /** What each waits for; null: for the former. */
  waits: Waits | null;
}

const ONE_BY_ONE: Order = { most: 1, waits: null };

/** Returns how the resources of a group are done. Where none says what it waits for, the order of the app says it, however many may go at once. */
export function orderOf(phase: Phase, resources: readonly Waiting[], most: number): Order {
  if (most === 1 || !resources.some(({ manifest }) => manifest.includes(WAIT_ANNOTATION))) return ONE_BY_ONE;
  const waits = resourceWaits(
    resources.map(({ key, manifest }) => ({ key, manifest: membersOf(JSON.parse(manifest)) })),
  );
  if (waits.size === 0) return ONE_BY_ONE;
  return { most, waits: phase === 'apply' ? waits : reversed(waits) };
}

/**
 * Does a step for each resource, in their order, each behind those that it waits for. Null from a step: go on; else no further one begins. Returns what
 * the steps said that were not null. Throws what a step throws, when no other is at work any more.
 */
export async function inTurn<Resource extends { key: string }, End>(
  resources: readonly Resource[],
  { most, waits }: Order,
  step: (resource: Resource) => Promise<End | null>,
): Promise<End[]> {
  const left = [...resources];
  const open = new Set(left.map(({ key }) => key));
  const atWork = new Set<Promise<void>>();
  const ends: End[] = [];
  const failures: unknown[] = [];
  const begin = async (resource: Resource) => {
    try {
      const said = await step(resource);
      if (said !== null) ends.push(said);
      open.delete(resource.key);
    } catch (error) {
      failures.push(error);
    }
  };
  const next = () => {
    const place = waits === null ? 0 : left.findIndex(({ key }) => !waits.get(key)?.some((other) => open.has(other)));
    // Resources in a circle, which an instantiate refuses, go in their order.
    return place < 0 && atWork.size === 0 ? 0 : place;
  };
  for (;;) {
    while (left.length > 0 && atWork.size < most && ends.length === 0 && failures.length === 0) {
      const place = next();
      if (place < 0) break;
      const [resource] = left.splice(place, 1);
      if (resource === undefined) break;
      const work = begin(resource).finally(() => atWork.delete(work));
      atWork.add(work);
    }
    if (atWork.size === 0) break;
    await Promise.race(atWork);
  }
  if (failures.length > 0) throw failures[0];
  return ends;
}
