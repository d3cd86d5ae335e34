/** Which sessions are too old (cfs-api 10): the rule with its bounds, and many at once. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { deleteSession } from '../../../control/sessions/delete-session.ts';
import { expireSessions } from '../../../control/sessions/expire-sessions.ts';
import { forgetSessions } from '../../../store/sessions/sweep.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, sessionNow } from '../../support/temporal/engine-sessions.ts';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ago = (ms: number) => new Date(NOW.getTime() - ms);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
afterEach(async () => {
  await database.db.deleteFrom('sessions').execute();
  await database.db.deleteFrom('outbox').execute();
});

const expire = (session_ttl: string, batch?: number) =>
  expireSessions({
    db: database.db,
    readOptions: async () => ({ session_ttl }),
    clock: () => NOW,
    ...(batch === undefined ? {} : { batch }),
  });

interface Given {
  status?: 'pending' | 'running' | 'complete';
  succeeded?: 'none' | 'true' | 'false' | 'unknown';
  started: number;
  ended?: number;
}

async function session({ status = 'complete', succeeded = 'true', started, ended }: Given) {
  const { id } = await makeSession(database.db, { now: ago(started) });
  await database.db
    .updateTable('sessions')
    .set({
      status,
      succeeded,
      stage: status === 'complete' ? 'ended' : 'admitted',
      completion_time: ended === undefined ? null : ago(ended),
    })
    .where('id', '=', id)
    .execute();
  return id;
}

const isDeleted = async (id: string) => (await sessionNow(database.db, id)).deleted_at !== null;

describe('a session', () => {
  test.each<[string, string, Given, boolean]>([
    ['that ended just now', '7d', { started: MINUTE, ended: 0 }, false],
    ['that ended a moment less than the option ago', '7d', { started: 8 * DAY, ended: 7 * DAY - 1 }, false],
    ['that ended exactly the option ago', '7d', { started: 8 * DAY, ended: 7 * DAY }, true],
    ['that ended longer ago', '7d', { started: 8 * DAY, ended: 7 * DAY + 1 }, true],
    ['that took long and has just ended', '7d', { started: 30 * DAY, ended: MINUTE }, false],
    ['without time of its end, started long ago', '7d', { started: 7 * DAY }, true],
    ['without time of its end, started lately', '7d', { started: DAY }, false],
    ['that failed', '7d', { started: 8 * DAY, ended: 8 * DAY, succeeded: 'false' }, true],
    ['whose result is unknown', '7d', { started: 8 * DAY, ended: 8 * DAY, succeeded: 'unknown' }, true],
    ['that runs', '1m', { started: 8 * DAY, status: 'running', succeeded: 'none' }, false],
    ['that waits', '1m', { started: 8 * DAY, status: 'pending', succeeded: 'none' }, false],
    [
      'that runs although somebody wrote a time of its end',
      '1m',
      { started: DAY, ended: DAY, status: 'running' },
      false,
    ],
    ['when the option is empty', '', { started: 900 * DAY, ended: 900 * DAY }, false],
    ['when the option is in minutes', '5m', { started: DAY, ended: 5 * MINUTE }, true],
    ['when the option is in minutes, before', '5M', { started: DAY, ended: 5 * MINUTE - 1 }, false],
    ['when the option is in hours', '2H', { started: DAY, ended: 120 * MINUTE }, true],
    ['when the option is in weeks', '1w', { started: 9 * DAY, ended: 7 * DAY }, true],
    ['when the option is in weeks, before', '1W', { started: 9 * DAY, ended: 7 * DAY - 1 }, false],
    ['when the option is 0', '0d', { started: MINUTE, ended: 0 }, true],
    [
      'when the option reaches before the calendar',
      '999999999w',
      { started: 20_000 * DAY, ended: 20_000 * DAY },
      false,
    ],
    ['that ends in the future', '0m', { started: MINUTE, ended: -DAY }, false],
  ])('%s, with %j', async (_what, ttl, given, goes) => {
    const id = await session(given);
    expect(await expire(ttl)).toBe(goes ? 1 : 0);
    expect(await isDeleted(id)).toBe(goes);
  });

  test('that was completed from outside while its work goes on is cancelled too', async () => {
    const id = await session({ started: 8 * DAY, ended: 8 * DAY });
    await database.db.deleteFrom('outbox').execute();
    await database.db.updateTable('sessions').set({ stage: 'admitted' }).where('id', '=', id).execute();
    expect(await expire('7d')).toBe(1);
    expect(await sessionNow(database.db, id)).toMatchObject({
      cancel_reason: 'the session was older than session_ttl (7d)',
      cancel_actor: null,
    });
    expect(await database.db.selectFrom('outbox').select(['kind', 'session_id']).execute()).toEqual([
      { kind: 'cancel', session_id: id },
    ]);
  });
});

describe('many', () => {
  const many = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => session({ started: 9 * DAY, ended: 8 * DAY + index })));

  test('go in small transactions, the oldest first', async () => {
    await many(25);
    const sizes: number[] = [];
    const kept = await session({ started: DAY, ended: DAY });
    const times = await expireSessions({
      db: database.db,
      // Read before each transaction.
      readOptions: async () => {
        const left = await database.db.selectFrom('sessions').select('id').where('deleted_at', 'is', null).execute();
        sizes.push(left.length);
        return { session_ttl: '7d' };
      },
      clock: () => NOW,
      batch: 10,
    });
    expect([times, sizes]).toEqual([25, [26, 16, 6]]);
    expect(await isDeleted(kept)).toBe(false);
  });

  test('stop going as soon as the option is empty', async () => {
    await many(6);
    const options = ['7d', '7d', ''];
    const readOptions = async () => ({ session_ttl: options.shift() ?? '' });
    expect(await expireSessions({ db: database.db, readOptions, clock: () => NOW, batch: 2 })).toBe(4);
  });

  test('are deleted once by several at the same time', async () => {
    await many(40);
    const counts = await Promise.all([expire('7d', 7), expire('7d', 7), expire('7d', 7)]);
    const again = await expire('7d');
    expect(counts.reduce((sum, count) => sum + count, again)).toBe(40);
  });

  test('of which somebody deletes one meanwhile', async () => {
    const [first] = await many(1);
    const { name } = await sessionNow(database.db, first ?? '');
    const deps = { db: database.db, dispatcher: { kick: () => undefined }, clock: () => NOW };
    const [count] = await Promise.all([
      expire('7d'),
      deleteSession(deps, { actor: null }, name).catch(() => undefined),
    ]);
    expect(count).toBeLessThanOrEqual(1);
    expect(await isDeleted(first ?? '')).toBe(true);
  });
});

test('rows of deleted sessions are forgotten, unless a retry names them', async () => {
  const [gone, late, named] = await Promise.all([1, 2, 3].map(() => session({ started: 90 * DAY, ended: 90 * DAY })));
  if (!gone || !late || !named) throw new Error('three were made');
  await makeSession(database.db, { retryOf: named });
  for (const [id, purged] of [
    [gone, 60],
    [late, 10],
    [named, 60],
  ] as const) {
    const times = { deleted_at: ago(70 * DAY), purged_at: ago(purged * DAY) };
    await database.db.updateTable('sessions').set(times).where('id', '=', id).execute();
  }
  await forgetSessions(database.db, ago(30 * DAY));
  const left = await database.db.selectFrom('sessions').select('id').where('deleted_at', 'is not', null).execute();
  expect(left.map(({ id }) => id).sort()).toEqual([late, named].sort());
});
