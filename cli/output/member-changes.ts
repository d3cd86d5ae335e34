/** What differs between two values, by its place. */

interface Change {
  before: unknown;
  after: unknown;
}

/** Longest text of one value, in characters: a commit with its quotes fits. */
const LONGEST = 60;
/** Differences that are named of one record. */
const NAMED = 20;

/**
 * The differences of a change as `layers[0].commit: "a" -> "b"`. What was made or deleted as a whole has none. A commit that a branch was
 * resolved to names the branch.
 */
export function memberChanges({ before, after }: Change): string[] {
  if (before === null || after === null) return [];
  const found = [...differences('', before, after)];
  return found.length > NAMED ? [...found.slice(0, NAMED), `and ${found.length - NAMED} more`] : found;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member of its own: a name such as `valueOf` is not one of every object. */
const own = (record: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;

function* differences(place: string, before: unknown, after: unknown, branch?: unknown): Generator<string> {
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let index = 0; index < Math.max(before.length, after.length); index += 1) {
      yield* differences(`${place}[${index}]`, before[index], after[index]);
    }
    return;
  }
  if (isObject(before) && isObject(after)) {
    for (const name of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
      const resolved = name === 'commit' ? own(after, 'branch') : undefined;
      yield* differences(place === '' ? name : `${place}.${name}`, own(before, name), own(after, name), resolved);
    }
    return;
  }
  const from = branch === undefined ? '' : ` (branch ${String(branch)})`;
  yield `${place}: ${valueText(before)} -> ${valueText(after)}${from}`;
}

function valueText(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}
