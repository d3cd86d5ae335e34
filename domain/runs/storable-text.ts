/** Index entries of Postgres are limited; no name of a host is meant to be as long. */
const HOST_MAX = 500;
/** JSON that is nested deeper is no event, and Postgres refuses it at some depth. */
const DEPTH_MAX = 50;
const YEAR_MAX = 9999;

/** Text that Postgres takes: no NUL, no lone surrogate; both become U+FFFD. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}

/** A host's name as it can be stored: storable text of at most 500 characters. */
export function storableHost(name: string): string {
  return storableText(name.slice(0, HOST_MAX));
}

/** The time that a text says, or `instead` when it says none that can be stored. */
export function storableTime(text: string, instead: Date): Date {
  const time = new Date(text);
  const year = time.getUTCFullYear();
  return year >= 1 && year <= YEAR_MAX ? time : instead;
}

/** A copy of plain JSON data in which every string, keys too, is storable. Throws RangeError for data nested too deeply. */
export function storableJson<T>(value: T): T {
  return storable(value, 0) as T;
}

function storable(value: unknown, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new RangeError(`nested deeper than ${DEPTH_MAX} levels`);
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map((item) => storable(item, depth + 1));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [storableText(key), storable(item, depth + 1)]),
    );
  }
  return value;
}
