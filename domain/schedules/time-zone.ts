/**
 * What is wrong with the name of a time zone, or null. It must be one of the IANA database (`Europe/Berlin`, `UTC`), in its
 * spelling: the engine takes no other.
 */
export function timeZoneMistake(name: string): string | null {
  if (!/^[A-Za-z]/.test(name))
    return 'is no time zone: write a name of the IANA database, such as Europe/Berlin or UTC';
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
    const misspelt = known !== name && known.toLowerCase() === name.toLowerCase();
    return misspelt ? `is no time zone: write it as ${known}` : null;
  } catch {
    return 'is no time zone: write a name of the IANA database, such as Europe/Berlin or UTC';
  }
}
