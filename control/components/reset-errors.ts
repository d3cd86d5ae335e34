import type { Acting } from '../../domain/access/acting.ts';
import type { Component } from '../../domain/components/schema.ts';
import { patchComponents } from './patch-components.ts';
import type { WriteComponentsDependencies } from './put-components.ts';

/**
 * Forgets the errors of these components, so that those whose tries are used up are tried again; all or none. What they reached stays.
 * Throws `component_not_found`.
 */
export async function resetErrors(
  deps: WriteComponentsDependencies,
  by: Acting,
  ids: readonly string[],
): Promise<Component[]> {
  const patches = [...new Set(ids)].map((id) => ({ id, error_count: 0 }));
  return patchComponents(deps, by, patches, (component) => component);
}
