/** A change of a record in one line. */

interface Change {
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** Longest text of one value, in characters. */
const LONGEST = 60;

/** The members of a change as `name: before -> after`; of what was made or deleted there is nothing to compare. */
export function changeText({ before, after }: Change): string {
  if (before === null || after === null) return '';
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.map((name) => `${name}: ${valueText(before[name])} -> ${valueText(after[name])}`).join(', ');
}

function valueText(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}
