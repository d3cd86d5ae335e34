import { unsafeValues } from '../runs/unsafe-values.ts';
import { type Collision, convertKeys } from './convert-keys.ts';
import { type CustomResource, isJsonMap } from './custom-resource.ts';
import { objectVariable } from './object-variable.ts';
import type { WatchEntry } from './watch-entry.ts';

/** Name of the variable that tells a playbook which resource it is run for. */
const META = 'ansible_operator_meta';

export interface RunVariables {
  variables: Record<string, unknown>;
  /** Keys of the spec that had to give way to others. */
  collisions: Collision[];
}

/**
 * Returns the extra variables of a run: keys of the spec, name and namespace, the whole resource, `vars` of the entry and, in a
 * finalizer's run, those of the finalizer; later ones win. Throws RangeError for a resource that is nested too deeply.
 */
export function runVariables(
  resource: CustomResource,
  entry: Pick<WatchEntry, 'group' | 'kind' | 'snake_case_parameters' | 'mark_unsafe' | 'vars' | 'finalizer'>,
  finalizerRun: boolean,
): RunVariables {
  const collisions: Collision[] = [];
  const spec = isJsonMap(resource.spec) ? resource.spec : {};
  const marked = (value: unknown): unknown => (entry.mark_unsafe ? unsafeValues(value) : value);
  const parameters = entry.snake_case_parameters ? convertKeys(spec, (collision) => collisions.push(collision)) : spec;
  const { name, namespace = '' } = resource.metadata;
  const variable = objectVariable(entry.group, entry.kind);
  const pairs = [
    ...Object.entries(marked(parameters) as Record<string, unknown>),
    [META, { name, namespace }],
    [variable, marked({ ...resource, spec })],
    [`${variable}_spec`, marked(spec)],
    ...Object.entries(entry.vars),
    ...(finalizerRun ? Object.entries(entry.finalizer?.vars ?? {}) : []),
  ];
  return { variables: Object.fromEntries(pairs), collisions };
}
