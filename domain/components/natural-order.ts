const PARTS = /[0-9]+|[^0-9]+/g;

/**
 * Compares names as people count: `n2` before `n10`. Of two numbers of the same value the shorter comes first (`n1` before `n01`); all else
 * is compared by code point.
 */
export function byNaturalOrder(a: string, b: string): number {
  const [partsOfA, partsOfB] = [a.match(PARTS) ?? [], b.match(PARTS) ?? []];
  let widths = 0;
  for (const [index, part] of partsOfA.entries()) {
    const other = partsOfB[index];
    if (other === undefined) return 1;
    if (part === other) continue;
    if (!isNumber(part) || !isNumber(other)) return byCodePoint(part, other);
    const order = byValue(part, other);
    if (order !== 0) return order;
    if (widths === 0) widths = part.length - other.length;
  }
  return partsOfA.length - partsOfB.length || widths;
}

/** A copy of `names` in natural order. */
export function inNaturalOrder(names: Iterable<string>): string[] {
  const all = [...names];
  return naturalPlaces(all).map((place) => all[place] ?? '');
}

/** Returns the places of names in the order that they have; fast for very many of them. */
export function naturalPlaces(names: readonly string[]): number[] {
  const keys = names.map(orderKey);
  const places = names.map((_, place) => place);
  // Names that keys cannot tell apart, or have none, are compared part by part.
  const exact = (a: number, b: number) => byNaturalOrder(names[a] ?? '', names[b] ?? '');
  return places.sort((a, b) => {
    const [left, right] = [keys[a] ?? null, keys[b] ?? null];
    if (left === null || right === null) return exact(a, b);
    return left < right ? -1 : left > right ? 1 : exact(a, b);
  });
}

/** What text as a whole is not ordered by: control characters, of which one marks a number, and what is more than one unit. */
const UNKEYED = /[\p{Cc}\ud800-\udfff\u{10000}-\u{10ffff}]/u;

/** Returns a text that is ordered, unit by unit, as the name is; null where there is none. */
function orderKey(name: string): string | null {
  if (UNKEYED.test(name)) return null;
  return name.replace(/[0-9]+/g, (digits, place: number) => {
    const value = digits.replace(/^0+/, '');
    // More digits are more. A number comes before whatever would go on with the text before it.
    const width = `${'9'.repeat(Math.floor(value.length / 9))}${value.length % 9}`;
    return `${place === 0 ? '' : '\u0001'}${width}${value}`;
  });
}

function isNumber(part: string): boolean {
  const code = part.charCodeAt(0);
  return code >= 48 && code <= 57;
}

/** Digits without leading zeros are ordered by their count first: no number is too large. */
function byValue(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** JavaScript compares by UTF-16 unit, which puts characters beyond U+FFFF before U+E000. */
function byCodePoint(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (const [index, character] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (character !== other) return (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return left.length - right.length;
}
