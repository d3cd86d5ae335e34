import { isDeepStrictEqual } from 'node:util';
import type { Document } from './documents.ts';

/** The members of `wanted` that `stored` has otherwise, or has not. Members that `wanted` leaves out are not compared. */
export function changedMembers(stored: Document, wanted: Document): Document {
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => value !== undefined && !isDeepStrictEqual(stored[name], value)),
  );
}

/** Whether a record that replaces the stored one as a whole would change anything in it; `ignored` are the server's own members. */
export function replacesNothing(stored: Document, wanted: Document, ignored: readonly string[]): boolean {
  const compared = (record: Document): Document =>
    Object.fromEntries(
      Object.entries(record).filter(([name, value]) => value !== undefined && !ignored.includes(name)),
    );
  return isDeepStrictEqual(compared(stored), compared(wanted));
}
