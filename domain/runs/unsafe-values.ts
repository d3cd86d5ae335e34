/** Deeper data is no input of a playbook: Python refuses to read it as JSON. */
export const DEEPEST = 500;

/** Members by which Ansible knows a value of another kind. Data that has such a member could pass for one, or make the file unreadable. */
const ANSIBLE_MEMBERS: readonly string[] = ['__ansible_unsafe', '__ansible_vault'];

/**
 * Returns a copy of JSON data in which every string value is marked as text that Ansible never templates: the map
 * `{"__ansible_unsafe": text}`, in the form in which Ansible reads files of variables. Keys, numbers, booleans and nulls stay.
 * Throws RangeError for data that is nested too deeply, or has a member that Ansible would read as a mark.
 */
export function unsafeValues(value: unknown, depth = 0): unknown {
  if (depth > DEEPEST) throw new RangeError(`nested deeper than ${DEEPEST} levels`);
  if (typeof value === 'string') return { __ansible_unsafe: value };
  if (Array.isArray(value)) return value.map((item) => unsafeValues(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  const mark = ANSIBLE_MEMBERS.find((member) => Object.hasOwn(value, member));
  if (mark !== undefined) throw new RangeError(`a member is named ${mark}, which Ansible reads as a mark`);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unsafeValues(member, depth + 1)]));
}

/**
 * Returns the text of a file of variables. Ansible reads a file that is no JSON as YAML, in which marks mean nothing and every text is a
 * template. So the file begins with a tab, with which no YAML begins: what cannot be read as JSON is not read at all.
 * @param marked values whose texts are marked where they are data
 */
export function variablesText(marked: Readonly<Record<string, unknown>>): string {
  return `\t${JSON.stringify(marked)}\n`;
}
