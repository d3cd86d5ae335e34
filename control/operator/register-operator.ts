import { SEEN_MS } from '../../domain/operator/resource-words.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  databaseTime,
  type OperatorRow,
  OtherOperator,
  type WatchRow,
  writeOperator,
} from '../../store/operator/operators.ts';

/** Postgres's code of what a login may not do. */
const NOT_ALLOWED = '42501';

/**
 * Records an operator for a process of this machine that begins. Returns why it may not have the name, for people; null where it has it.
 * Throws what the database says besides.
 */
export async function registerOperator(
  { db, clock, machine }: { db: Db; clock(): Date; machine: string },
  operator: OperatorRow,
  watches: readonly WatchRow[],
): Promise<string | null> {
  const seenAfter = new Date((await databaseTime(db)).getTime() - SEEN_MS);
  try {
    await writeOperator(db, operator, watches, clock(), { machine, seenAfter });
    return null;
  } catch (error) {
    const { name } = operator;
    if (error instanceof OtherOperator) {
      return `error: operator_taken: a live process on host ${error.machine} is the operator ${name} and watches other kinds: give another --operator-name`;
    }
    if (!isNotAllowed(error)) throw error;
    return `error: operator_taken: the operator ${name} belongs to another login of the database, or this login may register none: give another --operator-name, or have an administrator give it to this login`;
  }
}

const isNotAllowed = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === NOT_ALLOWED;
