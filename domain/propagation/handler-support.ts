/** Where the handlers of this release can execute, and what has to be switched on for it. */
import type { Mistake } from '../errors.ts';
import type { Handler } from './definition-schema.ts';
import { LOCALHOST } from './target.ts';

/** A node that executes something. */
export interface PlacedNode {
  id: string;
  handler: Handler;
  target?: string | null | undefined;
}

export interface LocalConnections {
  /** Whether actions may run on the machine of the worker. */
  allowsLocal: boolean;
}

/** Returns why an action cannot be executed at its target: `not_supported`. Null where it can. */
export function unsupportedTarget(
  { id, handler, target = null }: PlacedNode,
  connections: LocalConnections,
): Mistake | null {
  if (target === LOCALHOST) return connections.allowsLocal ? null : notSupported(id, localText(id));
  if (handler !== 'shell' || target === null) return null;
  return notSupported(
    id,
    `Handler shell of node ${id} is not supported at ${target}: it runs with location_id ${LOCALHOST} alone`,
  );
}

/** Returns what is said of a node that would run on the machine of the worker, where that is not allowed. */
export function localText(id: string): string {
  return `Node ${id} would run on the machine of the worker, which is not allowed here (MUSTER_ALLOW_LOCAL_CONNECTION)`;
}

const notSupported = (node: string, message: string): Mistake => ({
  code: 'not_supported',
  message,
  field: 'location_id',
  names: [node],
});
