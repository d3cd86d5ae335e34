export const MASK = '********';

/** Shorter values stand in too much ordinary text: masking them would make output unreadable and hide nothing. */
const SHORTEST_VALUE = 4;
/** Of a value with several lines (a private key), each line of at least this length is masked by itself too. */
const SHORTEST_LINE = 8;

/** Makes a function that replaces every known secret value in a text by `********`, longest value first. */
export function createMask(values: Iterable<string>): (text: string) => string {
  const parts = new Set<string>();
  for (const value of values) {
    if (value.length >= SHORTEST_VALUE) parts.add(value);
    const trimmed = value.trim();
    if (trimmed.length >= SHORTEST_VALUE) parts.add(trimmed);
    const lines = value.split(/\r?\n/);
    if (lines.length === 1) continue;
    for (const line of lines) if (line.trim().length >= SHORTEST_LINE) parts.add(line.trim());
  }
  if (parts.size === 0) return (text) => text;
  const sorted = [...parts].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(sorted.map((part) => escaped(part)).join('|'), 'g');
  return (text) => text.replace(pattern, MASK);
}

/** Replaces every known secret value in `text`; see `createMask` for which values count. */
export function maskSecrets(text: string, values: Iterable<string>): string {
  return createMask(values)(text);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
