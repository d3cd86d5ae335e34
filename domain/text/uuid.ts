const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ANY_CASE = new RegExp(UUID, 'i');

/** Returns whether a text can be the id of a record: the database takes no other. */
export function isUuid(text: string): boolean {
  return ANY_CASE.test(text);
}

/** Returns whether a text is an id as records write it, in lower case: names of folders and secrets are compared by their letters. */
export function isWrittenUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * Returns the UUID of version 4 that begins with 32 hexadecimal digits, of a digest for example: always the same UUID for the same digits. Digit 13
 * gives way to the version, digit 17 to one of the four variants.
 */
export function uuidOf(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  const groups = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return groups.join('-');
}

/** Returns the least and the greatest id that begin with these hexadecimal digits; hyphens between them do not count. */
export function idRange(prefix: string): [least: string, greatest: string] {
  const digits = prefix.toLowerCase().replaceAll('-', '').slice(0, 32);
  const whole = (filler: string) => digits.padEnd(32, filler).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return [whole('0'), whole('f')];
}
