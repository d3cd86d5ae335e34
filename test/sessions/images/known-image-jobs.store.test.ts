import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findKnownImageJobs, saveSessionImages, writeImageJob } from '../../../store/sessions/session-images.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession } from '../../support/temporal/engine-sessions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test('of 70,000 jobs of a service, more than a statement takes values, those of sessions are found', async () => {
  const { db } = database;
  const session = await makeSession(db, {});
  await saveSessionImages(db, session.id, [{ image: 'one', resultName: 'new' }], new Date());
  await writeImageJob(db, session.id, 'one', 'job-69999', new Date());
  const jobs = Array.from({ length: 70_000 }, (_, index) => `job-${index}`);
  expect(await findKnownImageJobs(db, jobs)).toEqual(new Set(['job-69999']));
});
