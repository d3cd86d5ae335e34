import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from './helm.ts';

/** By which member Kubernetes tells the items of a list apart when a patch is merged; other lists are replaced. */
const KEYS: Record<string, string> = { containers: 'name', env: 'name', volumes: 'name', volumeMounts: 'mountPath' };

/** The strategic merge patch that makes `to` of `from`: nothing may be in `from` alone. Undefined where they are the same. */
export function mergePatch(from: Manifest | undefined, to: Manifest): Manifest | undefined {
  if (isDeepStrictEqual(from, to)) return undefined;
  if (from === undefined) return to;
  const gone = Object.keys(from).filter((member) => !(member in to));
  if (gone.length > 0) throw new Error(`a patch takes nothing away: ${gone}`);
  return Object.fromEntries(
    Object.entries(to).flatMap(([member, value]) => {
      const before = from[member];
      if (isDeepStrictEqual(before, value)) return [];
      const key = KEYS[member];
      if (Array.isArray(value)) return [[member, key === undefined ? value : changedItems(before ?? [], value, key)]];
      return [[member, isObject(value) && isObject(before) ? mergePatch(before, value) : value]];
    }),
  );
}

function changedItems(before: Manifest[], after: Manifest[], key: string): Manifest[] {
  return after.flatMap((item) => {
    const patch = mergePatch(
      before.find((one) => one[key] === item[key]),
      item,
    );
    return patch === undefined ? [] : [{ [key]: item[key], ...patch }];
  });
}

function isObject(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
