/** A database with one operator on record, for the tests of one file. */
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Db } from '../../../store/connection/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { addOperator, FINALIZER, OPERATOR } from './fixtures.ts';

export const NOW = new Date('2026-01-02T03:04:05Z');
/** Returns the time so many seconds after `NOW`. */
export const later = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);

/** Opens a database for the tests of this file; before each of them it has the operator and nothing else of operators. */
export function withOperatorRows(
  take: (database: TestDatabase) => void,
  { finalizer = FINALIZER }: { finalizer?: string | null } = {},
): void {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    take(database);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.deleteFrom('operators').execute();
    await addOperator(database.db, NOW, OPERATOR, finalizer);
  });
}

/** Returns the whole row of a resource. */
export const resourceRow = (db: Db, id: string) =>
  db.selectFrom('operator_resources').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
