/** Things that a message names. */
const NAMED = 5;

/** The sentence of a session whose layers ask for collections or roles that are not installed. */
export function missingRequirements(missing: readonly string[]): string {
  const named = missing.slice(0, NAMED).join('; ');
  const more = missing.length > NAMED ? `; and ${missing.length - NAMED} more` : '';
  return `${named}${more}. Nothing is downloaded during a session: install it for the runner, or put it into the repository`;
}
