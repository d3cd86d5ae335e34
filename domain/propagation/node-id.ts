/** Names of nodes: `resource.action`, and `resource.action#0`, `#1` where a plan repeats the action. */
import { isActionName, isResourceName } from './resource-name.ts';

/** The two ends of a node's name. */
export interface NodeName {
  resource: string;
  action: string;
}

/** Returns resource and action of `x.y.z`: `x.y` and `z`, or null where the text is no name of a node. */
export function readNodeName(text: string): NodeName | null {
  const at = text.lastIndexOf('.');
  const name = { resource: text.slice(0, Math.max(at, 0)), action: text.slice(at + 1) };
  return at > 0 && isResourceName(name.resource) && isActionName(name.action) ? name : null;
}

/** Returns the resource of a name that is known to be a node's. */
export const resourceOf = (node: string): string => node.slice(0, node.lastIndexOf('.'));

/** Returns the action of a name that is known to be a node's. */
export const actionOf = (node: string): string => node.slice(node.lastIndexOf('.') + 1);

/** Whether a node, or one of its occurrences, removes its resource. */
export const isRemoval = (node: string): boolean => actionOf(node) === 'remove';

/** Returns the id of an occurrence; a node that is not repeated has its own name. */
export const occurrenceId = (base: string, occurrence: 0 | 1, repeated: boolean): string =>
  repeated ? `${base}#${occurrence}` : base;

/** Returns the value that a caller gave for a node: under its own id, under `x#0` for a node that is not repeated, or under its base. */
export function givenFor<T>(
  given: Readonly<Record<string, T>>,
  node: { id: string; base: string; occurrence: 0 | 1 },
): T | undefined {
  const named = (name: string): T | undefined => (Object.hasOwn(given, name) ? given[name] : undefined);
  return named(node.id) ?? (node.occurrence === 0 ? named(`${node.base}#0`) : undefined) ?? named(node.base);
}
