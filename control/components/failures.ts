/** Failures of components by what they have in common. */
import { createHash } from 'node:crypto';
import { signatureOf } from '../../domain/components/failure-group.ts';
import { groupFailures, idsFailedWith } from '../../store/components/last-failures.ts';
import type { Db } from '../../store/connection/database.ts';

/** Digits of an id behind its letter: text of digits alone would be a number for readers of addresses. */
const DIGITS = 15;

/** Returns the id of a signature: it goes into addresses. */
export function failureId(signature: string): string {
  return `f${createHash('sha256').update(signature).digest('hex').slice(0, DIGITS)}`;
}

/** Returns the ids of components that have failed, the last time with this; none where nothing failed so. */
export async function idsOfFailure(db: Db, failure: string): Promise<string[]> {
  const groups = (await groupFailures(db)).filter((group) => failureId(signatureOf(group)) === failure);
  if (groups.length === 0) return [];
  return idsFailedWith(
    db,
    groups.map(({ message }) => message),
  );
}

/** Returns the ids that both have, in the order of the first; undefined: no condition. */
export function bothOf(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const wanted = new Set(other);
  return one.filter((id) => wanted.has(id));
}
