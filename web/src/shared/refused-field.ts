/** At which field of a form the API found what it refuses. */

/** The member of a request that a field writes, as the API names it: `action.session.ansible_limit`. */
interface Placed {
  at: string;
}

/** How a refusal ends that names a member. */
const NAMED = / - '([^']+)'$/;

/** Returns the field that a refusal is about with what it says; null where it names no member of a field. */
export function refusedField<Field extends Placed>(
  fields: readonly Field[],
  refused: unknown,
): { field: Field; words: string } | null {
  const message = refused instanceof Error ? refused.message : '';
  const named = NAMED.exec(message);
  const member = named?.[1];
  if (named === null || member === undefined) return null;
  const [at] = fields
    .filter(({ at }) => member === at || member.startsWith(`${at}.`))
    .toSorted((one, other) => other.at.length - one.at.length);
  // A member that several fields write has its words at the first of them.
  const field = at ?? fields.find((one) => one.at.startsWith(`${member}.`));
  return field === undefined ? null : { field, words: message.slice(0, named.index) };
}
