/** Deeper data is no input of a playbook: Python refuses to read it as JSON. */
export const DEEPEST = 500;

/**
 * Returns a copy of JSON data in which every string value is marked as text that Ansible never templates: the map
 * `{"__ansible_unsafe": text}`, in the form in which Ansible reads files of variables. Keys, numbers, booleans and nulls stay.
 * Throws RangeError for data that is nested too deeply.
 */
export function unsafeValues(value: unknown, depth = 0): unknown {
  if (depth > DEEPEST) throw new RangeError(`nested deeper than ${DEEPEST} levels`);
  if (typeof value === 'string') return { __ansible_unsafe: value };
  if (Array.isArray(value)) return value.map((item) => unsafeValues(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unsafeValues(member, depth + 1)]));
}
