import { DEEPEST } from '../runs/unsafe-values.ts';
import { toSnake } from './snake-case.ts';

/** Two keys of one map that have one name in snake case. */
export interface Collision {
  name: string;
  /** The key whose value is kept. */
  kept: string;
  dropped: string;
}

/**
 * Returns a copy of JSON data with all keys of maps in snake case, at every depth. Of two keys with one name the key that is already in
 * snake case is kept, else the last one in sorted order; `collide` is told. Throws RangeError for data that is nested too deeply.
 */
export function convertKeys(value: unknown, collide: (collision: Collision) => void, depth = 0): unknown {
  if (depth > DEEPEST) throw new RangeError(`nested deeper than ${DEEPEST} levels`);
  if (Array.isArray(value)) return value.map((item) => convertKeys(item, collide, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const kept = new Map<string, { key: string; member: unknown }>();
  for (const [key, member] of Object.entries(value).sort(byKey)) {
    const name = toSnake(key);
    const other = kept.get(name);
    if (other !== undefined) {
      const keepsOther = other.key === name;
      collide({ name, kept: keepsOther ? other.key : key, dropped: keepsOther ? key : other.key });
      if (keepsOther) continue;
    }
    kept.set(name, { key, member });
  }
  return Object.fromEntries([...kept].map(([name, { member }]) => [name, convertKeys(member, collide, depth + 1)]));
}

const byKey = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);
