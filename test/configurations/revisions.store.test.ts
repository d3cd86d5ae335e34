import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  deleteConfiguration,
  insertConfiguration,
  updateConfiguration,
} from '../../store/configurations/configurations.ts';
import { readConfigurationsRevision } from '../../store/configurations/revisions.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const at = '2026-01-01T00:00:00Z';
const now = new Date(at);
const record = (description: string) => ({ name: 'one', description, last_updated: at, layers: [] });

test('the revision of the configurations never comes back', async () => {
  const { db } = database;
  const seen = [await readConfigurationsRevision(db)];
  const next = async () => {
    const revision = await readConfigurationsRevision(db);
    expect(seen).not.toContain(revision);
    seen.push(revision);
  };
  for (let round = 0; round < 2; round += 1) {
    await insertConfiguration(db, record('begun'), now, null);
    await next();
    await updateConfiguration(db, record('changed'), now, null);
    await next();
    await deleteConfiguration(db, 'one');
    await next();
  }
});
