/** What may start now: of the nodes that are to run, those for which there is room. */

/** A node that is to run, or runs. */
export interface Admitted {
  id: string;
  resource: string;
  /** Null: nowhere in particular; such actions do not exclude one another by their place. */
  target: string | null;
  /** Its definition where the definition has a limit. */
  type: string | null;
}

export interface Waiting extends Admitted {
  weight: number;
}

export interface Limits {
  /** Nodes in progress at a time. */
  items: number;
  /** Actions of a definition in progress at a time. */
  types: Readonly<Record<string, number>>;
}

export const DEFAULT_ITEMS = 100;

/** The order in which nodes start: the heaviest first, then by id. */
export const byWeight = (a: Waiting, b: Waiting): number =>
  b.weight - a.weight || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/**
 * Returns which of the waiting nodes may start, in their order, beside those in progress: one action at a time on each target and each
 * resource, and no more than the limits allow. A node that has to wait does not hold up those behind it.
 */
export function admit<T extends Waiting>(waiting: readonly T[], running: readonly Admitted[], limits: Limits): T[] {
  const taken = { targets: new Set<string>(), resources: new Set<string>(), types: new Map<string, number>() };
  const take = ({ target, resource, type }: Admitted): void => {
    if (target !== null) taken.targets.add(target);
    if (type !== null) taken.types.set(type, (taken.types.get(type) ?? 0) + 1);
    taken.resources.add(resource);
  };
  const hasRoom = ({ target, resource, type }: Admitted): boolean => {
    if (taken.resources.has(resource) || (target !== null && taken.targets.has(target))) return false;
    const most = type !== null && Object.hasOwn(limits.types, type) ? limits.types[type] : undefined;
    return type === null || most === undefined || (taken.types.get(type) ?? 0) < most;
  };
  for (const node of running) take(node);
  const admitted: T[] = [];
  for (const node of waiting) {
    if (running.length + admitted.length >= limits.items) break;
    if (!hasRoom(node)) continue;
    take(node);
    admitted.push(node);
  }
  return admitted;
}
