/** What the newest letters of the grid say of the places of its cells. */

type Versioned = { version: string } | undefined;

/**
 * Returns what differs between the places that are known and those of the newest letters; '': nothing does, or one of both is not read yet.
 * Another difference is another text: places that have moved again by the time that they are read are read once more.
 */
export function movedFrom(known: Versioned, newest: Versioned): string {
  if (known === undefined || newest === undefined || known.version === newest.version) return '';
  return `${known.version} ${newest.version}`;
}
