import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openDatabase } from '../../../store/connection/database.ts';
import {
  addToOutbox,
  hasOutboxItem,
  postponeOutbox,
  removeFromOutbox,
  takeFromOutbox,
} from '../../../store/sessions/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
afterEach(async () => {
  await database.db.deleteFrom('outbox').execute();
});

/** Seconds: so long that none of it is over while a test makes its statements. */
const LEASE = 3_600;

async function fill(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  for (const id of ids) await addToOutbox(database.db, 'start', id);
  return ids;
}

/** Lets `seconds` pass for the outbox. */
const pass = (seconds: number) =>
  sql`update outbox set next_try_at = next_try_at - make_interval(secs => ${seconds})`.execute(database.db);

test('gives messages in the order in which they came, so many at a time', async () => {
  const ids = await fill(5);
  const first = await takeFromOutbox(database.db, 'start', 3, 15);
  const rest = await takeFromOutbox(database.db, 'start', 3, 15);
  expect([...first, ...rest].map((item) => item.sessionId)).toEqual(ids);
  expect(first).toHaveLength(3);
  expect(first[0]).toMatchObject({ kind: 'start', attempts: 1 });
  expect(first[0]?.age).toBeGreaterThanOrEqual(0);
  expect(first[0]?.age).toBeLessThan(30);
});

test('shows nobody a message that somebody has, until the lease is over', async () => {
  await fill(1);
  const take = () => takeFromOutbox(database.db, 'start', 10, LEASE);
  expect(await take()).toHaveLength(1);
  expect(await take()).toEqual([]);
  await pass(LEASE / 2);
  expect(await take()).toEqual([]);
  await pass(LEASE / 2);
  expect(await take()).toMatchObject([{ attempts: 2 }]);
});

test('forgets what was delivered', async () => {
  const [id] = await fill(1);
  const [item] = await takeFromOutbox(database.db, 'start', 10, 15);
  expect(await hasOutboxItem(database.db, 'start', id ?? '')).toBe(true);
  expect(await hasOutboxItem(database.db, 'cancel', id ?? '')).toBe(false);
  await removeFromOutbox(database.db, [item?.id ?? 0]);
  expect(await hasOutboxItem(database.db, 'start', id ?? '')).toBe(false);
  await pass(100);
  expect(await takeFromOutbox(database.db, 'start', 10, 15)).toEqual([]);
});

test('offers what could not be delivered again after its pause, with the error on record', async () => {
  await fill(2);
  const [first] = await takeFromOutbox(database.db, 'start', 1, 15);
  await postponeOutbox(database.db, first?.id ?? 0, LEASE, 'x'.repeat(2_000));
  const row = await database.db.selectFrom('outbox').selectAll().orderBy('id').executeTakeFirstOrThrow();
  expect(row.last_error).toBe('x'.repeat(500));
  // The pause holds nobody else up.
  const [second] = await takeFromOutbox(database.db, 'start', 10, 15);
  expect(second?.id).not.toBe(first?.id);
  await removeFromOutbox(database.db, [second?.id ?? 0]);
  await pass(LEASE / 2);
  expect(await takeFromOutbox(database.db, 'start', 10, 15)).toEqual([]);
  await pass(LEASE / 2);
  expect(await takeFromOutbox(database.db, 'start', 10, 15)).toMatchObject([{ id: first?.id, attempts: 2 }]);
});

test('a message of a transaction that is undone never was', async () => {
  const id = randomUUID();
  const undone = database.db.transaction().execute(async (trx) => {
    await addToOutbox(trx, 'cancel', id);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await hasOutboxItem(database.db, 'cancel', id)).toBe(false);
});

test('several takers at once share the messages, none is given twice and none is left', async () => {
  const ids = await fill(60);
  const takers = Array.from({ length: 4 }, () => openDatabase({ url: database.url, poolSize: 2 }));
  try {
    const taken = await Promise.all(
      takers.map(async (db) => {
        const mine: string[] = [];
        for (;;) {
          const items = await takeFromOutbox(db, 'start', 7, LEASE);
          if (items.length === 0) return mine;
          mine.push(...items.map((item) => item.sessionId));
        }
      }),
    );
    // A taker may have looked while the others held the rest.
    const rest = await takeFromOutbox(database.db, 'start', 100, 15);
    const all = [...taken.flat(), ...rest.map((item) => item.sessionId)];
    expect(all.sort()).toEqual([...ids].sort());
  } finally {
    await Promise.all(takers.map((db) => db.destroy()));
  }
});

test('a taker does not wait for one that is in the middle of taking', async () => {
  await fill(2);
  await database.db.transaction().execute(async (trx) => {
    const [held] = await takeFromOutbox(trx, 'start', 1, 15);
    const [other] = await takeFromOutbox(database.db, 'start', 10, 15);
    expect(other?.id).toBeGreaterThan(held?.id ?? 0);
  });
});
