/** Names as segments of paths. */

/**
 * Returns a name as one segment of a path, whatever is in it. A browser takes `.` and `..` for ways through the path, also encoded: they become
 * the names `%2e` and `%2e%2e`, which no record has.
 */
export function pathSegment(name: string): string {
  return name === '.' || name === '..' ? name.replaceAll('.', '%252e') : encodeURIComponent(name);
}
