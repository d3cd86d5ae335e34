/** Kinds that a CustomResourceDefinition of the same app brings: their cluster takes a moment until it serves them. */
import type { Identity } from './manifest-identity.ts';

/** How long a cluster may take until it serves a kind, ms. */
const ESTABLISH_MS = 30_000;

export interface AppliedDefinition {
  /** `<plural>.<group>` */
  name: string;
  at: Date;
}

/** Whether an identity is that of a CustomResourceDefinition. */
export function isDefinition({ group, kind }: Pick<Identity, 'group' | 'kind'>): boolean {
  return group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition';
}

/** Whether a kind of this group may still come to be served, since a definition of the group was applied a moment ago. */
export function isComing(definitions: readonly AppliedDefinition[], group: string, now: Date): boolean {
  return definitions.some(({ name, at }) => groupOf(name) === group && now.getTime() - at.getTime() < ESTABLISH_MS);
}

/** Whether one of the definitions is of a kind of this group: what was known of the group before may not hold any more. */
export function isDefinedHere(definitions: readonly AppliedDefinition[], group: string): boolean {
  return definitions.some(({ name }) => groupOf(name) === group);
}

function groupOf(name: string): string {
  return name.slice(name.indexOf('.') + 1);
}
