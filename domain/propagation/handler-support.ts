/** Where the handlers of this release can execute, and what has to be switched on for it. */
import type { Mistake } from '../errors.ts';
import { LOCALHOST } from './target.ts';

/** A node that executes something. */
export interface PlacedNode {
  id: string;
  target?: string | null | undefined;
}

export interface LocalConnections {
  /** Whether actions may run on the machine of the worker. */
  allowsLocal: boolean;
}

/** Returns why an action cannot be executed at its target: `not_supported`. Null where it can. */
export function unsupportedTarget(
  { id, target = null }: PlacedNode,
  { allowsLocal }: LocalConnections,
): Mistake | null {
  if (target !== LOCALHOST || allowsLocal) return null;
  return { code: 'not_supported', message: localText(id), field: 'location_id', names: [id] };
}

/** Returns what is said of a node that would run on the machine of the worker, where that is not allowed. */
export function localText(id: string): string {
  return `Node ${id} would run on the machine of the worker, which is not allowed here (MUSTER_ALLOW_LOCAL_CONNECTION)`;
}
