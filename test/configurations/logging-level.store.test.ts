import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { followLoggingLevel } from '../../control/configurations/logging-level.ts';
import { lockOptions, mergeOptions } from '../../store/configurations/options.ts';
import { openDatabase } from '../../store/connection/database.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => set('INFO'));

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Another process that follows the option; only announcements reach it in the time of a test. */
async function follow(safetyMs = 3_600_000): Promise<{ level: string }> {
  const log = { level: 'none' };
  const { url, db } = database;
  stops.push(followLoggingLevel({ db, database: { url }, log, safetyMs }));
  await eventually('a level', () => log.level !== 'none');
  await eventually('it listens', async () => (await listeners()) >= stops.length);
  return log;
}

async function listeners(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and application_name = 'muster-options' and query like '%; listen %'
    and state = 'idle'`.execute(database.db);
  return rows[0]?.count ?? 0;
}

async function set(logging_level: 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR'): Promise<void> {
  await database.db.transaction().execute(async (trx) => {
    await lockOptions(trx);
    await mergeOptions(trx, { logging_level }, new Date(), null);
  });
}

test('every process hears at once what one of them has stored', async () => {
  const logs = [await follow(), await follow()];
  expect(logs.map((log) => log.level)).toEqual(['info', 'info']);
  for (const [level, word] of [
    ['DEBUG', 'debug'],
    ['ERROR', 'error'],
    ['WARNING', 'warn'],
  ] as const) {
    await set(level);
    await eventually(`all are at ${word}`, () => logs.every((log) => log.level === word));
  }
});

test('what is not committed is not heard', async () => {
  const log = await follow();
  await expect(
    database.db.transaction().execute(async (trx) => {
      await lockOptions(trx);
      await mergeOptions(trx, { logging_level: 'ERROR' }, new Date(), null);
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await set('DEBUG');
  await eventually('debug', () => log.level === 'debug');
});

test('after a lost connection it listens again, and has missed nothing', async () => {
  const log = await follow();
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'muster-options'`.execute(database.db);
  await set('ERROR');
  await eventually('error', () => log.level === 'error');
  await eventually('it listens again', async () => (await listeners()) === 1);
  await set('DEBUG');
  await eventually('debug', () => log.level === 'debug');
});

test('a lost announcement costs no more than the look at the option itself', async () => {
  const log = await follow(50);
  await sql`update options set record = record || '{"logging_level": "ERROR"}'`.execute(database.db);
  await eventually('error', () => log.level === 'error');
});

test('without a database the level stays, and stopping is at once', async () => {
  const away = { url: 'postgres://nobody@127.0.0.1:1/none' };
  const db = openDatabase(away);
  const log = { level: 'info' };
  const stop = followLoggingLevel({ db, database: away, log, safetyMs: 10 });
  await expect(sql`select 1`.execute(db)).rejects.toThrow();
  expect(log.level).toBe('info');
  await stop();
  await db.destroy();
});
