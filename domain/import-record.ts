/** What the imports of all lanes share: how a foreign record is read, compared and named. */
import type { ImportMode, ImportOutcome, ImportResult } from './import-schema.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Records are flat; what lies deeper than this is no part of one. */
const DEPTH_MAX = 10;

/** The value without members that are null or empty text, at every depth of a record: in CFS both mean absent. */
export function withoutAbsent(value: unknown, depth = 0): unknown {
  if (depth > DEPTH_MAX) return value;
  if (Array.isArray(value)) return value.map((item) => withoutAbsent(item, depth + 1));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, item]) => item !== null && item !== '');
  return Object.fromEntries(kept.map(([name, item]) => [name, withoutAbsent(item, depth + 1)]));
}

/** Whether two values are equal as JSON: the order of members does not matter, an undefined member is an absent one. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return one === other;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => sameJson(ownMember(one, name), ownMember(other, name)));
}

/** What all objects inherit (`toString`, `__proto__`) is no member of a record. */
function ownMember(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The record's own name (its member `key`), or its place where it has none that can be shown. */
export function importName(record: unknown, key: 'id' | 'name', index: number): string {
  const name = isObject(record) ? record[key] : undefined;
  return typeof name === 'string' && name !== '' ? name.slice(0, 200) : `record ${index}`;
}

/** The first mistake of a record in a sentence that names the member. */
export function importMistake(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  const [first] = issues;
  if (first === undefined) return 'cannot be read';
  const path = first.path.map(String).join('.');
  return path === '' ? first.message : `${path}: ${first.message}`;
}

/** What becomes of a record that can be taken: by whether one is `stored`, whether it is `equal`, and the mode. */
export function importOutcome(stored: boolean, equal: boolean, { keep }: ImportMode): ImportOutcome {
  if (!stored) return 'created';
  if (equal) return 'equal';
  return keep ? 'skipped' : 'changed';
}

/** Whether a record with this outcome is to be written. */
export function importWrites(outcome: ImportOutcome, { dryRun }: ImportMode): boolean {
  return !dryRun && (outcome === 'created' || outcome === 'changed');
}

/** A result with what was left out of the record; nothing said where nothing was. */
export function importResult(name: string, outcome: ImportOutcome, notes: readonly string[]): ImportResult {
  const said = outcome === 'skipped' && notes.length === 0 ? ['it exists and differs'] : notes;
  return said.length === 0 ? { name, outcome } : { name, outcome, detail: said.join('; ') };
}
